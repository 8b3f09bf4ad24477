import type { Overflow } from '../../ir/overflow.ts';

/** How upstreams name the tokens of a prompt that is too long, and the most that they take. */
const NAMED_TOKENS: readonly RegExp[] = [
  // OpenAI, vLLM, xAI: "maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens"
  /maximum (?:context|prompt) length (?:is|of) (?<most>\d+)(?: tokens)?\D{1,80}(?<prompt>\d+)/i,
  // Anthropic: "208310 tokens > 200000 maximum"
  /(?<prompt>\d+) tokens > (?<most>\d+) maximum/i,
  // Gemini: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)"
  /input token count \(?(?<prompt>\d+)\)? exceeds\D{1,80}(?<most>\d+)/i,
  // Mistral: "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"
  /contains (?<prompt>\d+) tokens[^.]{1,80}model with (?<most>\d+) maximum/i,
  // llama.cpp: "the request exceeds the available context size (4096 tokens)"
  /available context size \(?(?<most>\d+) tokens/i,
];

/** Numbers of an upstream's message about a prompt that is too long. `contextLength`: what the catalogue says. */
export function overflowOf(message: string, contextLength: number | undefined): Overflow {
  const text = message.slice(0, MAX_SEARCHED_CHARACTERS);
  const groups = NAMED_TOKENS.map((pattern) => pattern.exec(text)?.groups).find(
    (found) => found !== undefined,
  );
  const most = groups?.most === undefined ? contextLength : Number(groups.most);
  const prompt = groups?.prompt === undefined ? undefined : Number(groups.prompt);
  return {
    ...(most !== undefined && { most }),
    ...(most !== undefined && prompt !== undefined && prompt > most && { prompt }),
  };
}

/** A message may have any length. */
const MAX_SEARCHED_CHARACTERS = 4096;
