import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, readJson } from '../../../kit/json/json.ts';
import { wordChanges } from '../../../kit/text/word-changes.ts';
import type { Egress, EgressReply } from '../../../net/egress/egress.ts';
import { EgressProblem } from '../../../net/egress/egress-problem.ts';
import type { AppliedGuardrail, FilterAction, OwnService } from '../../../ports/tenancy/guardrails.ts';
import type { Finding } from '../filters/finding.ts';
import { type Judge, type JudgedText, JudgeFailure, type Judgement } from './judge.ts';

/** Bytes of a reply for each character of the texts, and besides: replacements are about as long as the texts. */
const REPLY_BYTES_A_CHARACTER = 4;
const REPLY_SLACK_BYTES = 64 * 1024;

const MAX_REASON_CHARACTERS = 200;

/** Pause before the second try, in milliseconds; each further one is twice as long. */
const FIRST_PAUSE_MS = 50;

/** The service that a guardrail names: one POST with all texts. */
export function ownService(
  applied: AppliedGuardrail,
  service: OwnService,
  generationId: string | null,
  egress: Egress,
): Judge {
  const { guardrail, scope } = applied;
  const { url, timeoutMs, retries, onFailure, windowCharacters } = service;
  // An address of the configuration file may be private.
  const send = guardrail.fileMember === null ? egress.fetch : egress.call;
  return {
    engine: 'service',
    guardrailId: guardrail.id,
    scope,
    onFailure,
    windowCharacters,
    async judge(texts, direction, signal) {
      const deadline = performance.now() + timeoutMs;
      const body = JSON.stringify({
        generation_id: generationId,
        guardrail_id: guardrail.id,
        direction,
        texts,
      });
      const maxBytes = REPLY_BYTES_A_CHARACTER * body.length + REPLY_SLACK_BYTES;
      for (let tries = 0; ; tries++) {
        try {
          const reply = await send(url, {
            method: 'POST',
            headers: { 'content-type': 'application/json', accept: 'application/json' },
            body,
            limits: { totalMs: deadline - performance.now(), maxBytes, maxRedirects: 0 },
            signal,
          });
          return judgementOf(verdictIn(reply, texts.length), texts, applied);
        } catch (problem) {
          const failure = problem instanceof EgressProblem ? new JudgeFailure(problem.message) : problem;
          const pauseMs = FIRST_PAUSE_MS * 2 ** tries;
          const isLast = tries >= retries || performance.now() + pauseMs >= deadline;
          if (!(failure instanceof JudgeFailure) || isLast || isForbidden(problem)) throw failure;
          await sleep(pauseMs, undefined, { signal });
        }
      }
    },
  };
}

/** True if the rules for addresses forbid the call: a retry would be refused too. */
function isForbidden(problem: unknown): boolean {
  return problem instanceof EgressProblem && problem.reason === 'refused';
}

/** The answer of a service. `texts`: null = this text stays. */
type Verdict =
  | { readonly action: 'allow' }
  | { readonly action: 'block'; readonly reason: string }
  | { readonly action: 'replace'; readonly reason: string; readonly texts: readonly (string | null)[] };

function verdictIn({ status, bytes, isCut }: EgressReply, count: number): Verdict {
  if (status !== 200) throw new JudgeFailure(`the service answered with status ${status}`);
  const reading = readJson(bytes.toString('utf8'));
  const verdict = reading.ok && !isCut && isJsonObject(reading.value) ? reading.value : {};
  const { action, reason, texts } = verdict;
  const given = typeof reason === 'string' && reason !== '' ? reason.slice(0, MAX_REASON_CHARACTERS) : null;
  if (action === 'allow') return { action };
  if (action === 'block') return { action, reason: given ?? 'no reason given' };
  if (action === 'replace' && isReplacement(texts, count)) {
    return { action, reason: given ?? 'Guardrail service', texts };
  }
  throw new JudgeFailure('the answer of the service is no verdict');
}

function isReplacement(texts: unknown, count: number): texts is (string | null)[] {
  return (
    Array.isArray(texts) &&
    texts.length === count &&
    texts.every((text) => text === null || typeof text === 'string')
  );
}

function judgementOf(
  verdict: Verdict,
  texts: readonly JudgedText[],
  { guardrail, scope }: AppliedGuardrail,
): Judgement {
  const given = texts.map(({ text }) => text);
  const found = (
    label: string,
    action: FilterAction,
    text: string,
    redaction: string,
    start = 0,
  ): Finding => ({
    name: 'service',
    engine: 'service',
    kind: 'content-filter',
    guardrailId: guardrail.id,
    scope,
    label,
    action,
    redaction,
    start,
    end: start + text.length,
    text,
  });
  switch (verdict.action) {
    case 'allow':
      return { texts: given, findings: [], spansIn: () => [] };
    case 'block':
      return { texts: given, findings: [found(verdict.reason, 'block', '', '')], spansIn: () => [] };
    case 'replace': {
      const { reason, texts: replacements } = verdict;
      const kept = given.map((text, index) => replacements[index] ?? text);
      const findings = given.flatMap((text, index) => {
        const replacement = kept[index] as string;
        const isJoined = texts[index]?.joined !== undefined;
        return replacement === text || isJoined ? [] : [found(reason, 'redact', text, replacement)];
      });
      const spansIn = (index: number) => {
        const text = given[index] as string;
        return wordChanges(text, kept[index] as string).map(({ start, end, text: redaction }) =>
          found(reason, 'redact', text.slice(start, end), redaction, start),
        );
      };
      return { texts: kept, findings, spansIn };
    }
  }
}
