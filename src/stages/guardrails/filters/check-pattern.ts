import { LRUCache } from 'lru-cache';
import { AllMatches } from '../../../kit/pattern/all-matches.ts';
import { compileProgram, type Program } from '../../../kit/pattern/program.ts';
import type { PatternLimits } from '../../../kit/text/linear-pattern.ts';

/** Instructions bound the time that a pattern takes to compile, and the time that a character takes at worst. */
export const FILTER_PATTERN_LIMITS: PatternLimits = { characters: 100_000, size: 5000 };

/** A pattern of a custom filter, ready for matching. */
export interface CompiledPattern {
  readonly program: Program;
  readonly machine: AllMatches;
}

/** Patterns that are in use, so that guardrails and their copies share what was compiled. */
const compiled = new LRUCache<string, CompiledPattern>({ max: 500 });

/** Why a pattern cannot be used, in words that fit behind "the pattern"; undefined = it can. */
export function checkPattern(source: string): string | undefined {
  const outcome = compiledPattern(source);
  return typeof outcome === 'string' ? outcome : undefined;
}

/** Whether a pattern was compiled lately. */
export function isCompiled(source: string): boolean {
  return compiled.has(source);
}

/** Or the reason why not. */
export function compiledPattern(source: string): CompiledPattern | string {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const compilation = compileProgram(source, FILTER_PATTERN_LIMITS);
  if (!compilation.ok) return compilation.problem;
  const pattern = { program: compilation.program, machine: new AllMatches(compilation.program) };
  compiled.set(source, pattern);
  return pattern;
}
