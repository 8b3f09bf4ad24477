import { DIALECTS } from '../../dialects/dialects.ts';
import type { Underway } from '../answer/underway.ts';
import { CallCount } from '../leg/candidate-queue.ts';
import type { CredentialOpener } from '../leg/credentials.ts';
import { hashUser } from '../leg/leg-dependencies.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import type { GatewayDependencies } from './gateway-dependencies.ts';

/**
 * Tokens of a prompt by our tokenizer. A prompt of a format whose upstreams count gets the count of the first candidate
 * that can, unless it is under guardrails: it is not sent anywhere only to be counted.
 */
export async function countTokens(
  input: GenerationInput,
  { request, prompt, attemptLog, settings, content, stages }: Underway,
  credentials: CredentialOpener,
  dependencies: GatewayDependencies,
): Promise<number> {
  try {
    const asksUpstreams = DIALECTS[input.format].upstream.countTokens !== undefined && !stages.guardsRequest;
    const candidates = asksUpstreams ? attemptLog.plan.candidates : [];
    const calls = new CallCount(settings.attempts);
    for (const candidate of candidates) {
      if (!calls.allows(candidate)) continue;
      calls.note(candidate);
      const counted = await dependencies.countUpstream({
        request,
        hashUser: (id: string) => hashUser(dependencies.userHashKey, input.caller.accountId, id),
        ...(input.betas !== undefined && { betas: input.betas }),
        signal: input.signal,
        endpoint: candidate.endpoint,
        credential: credentials.open(candidate),
        isByok: candidate.access.kind === 'byok',
      });
      if (counted !== undefined) return counted;
    }
    return await prompt.count(dependencies.tokenizer, input.signal);
  } finally {
    void content.close();
  }
}
