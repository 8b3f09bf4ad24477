import { GatewayError } from '../../ir/errors.ts';
import { formatUsd, type Nanos, usdOf } from '../../kit/money.ts';
import type { LimitWindow } from '../../kit/time/windows.ts';
import type { Refusal, ScopeIds } from '../../ports/money/ledger.ts';

/** Figures of a refused request, for its error message. */
export interface Asked {
  readonly scopes: ScopeIds;
  /** Output tokens that were requested, or that the endpoint writes at most. */
  readonly requestedTokens: number;
  /** Output tokens that the money pays for; below 0: it does not even pay for the prompt. */
  readonly affordableTokens: number;
  /** Prompt tokens that are reserved because files may fill the context; undefined = no files. */
  readonly filledContext: number | undefined;
}

const WINDOW_WORDS: Readonly<Record<LimitWindow, string>> = {
  daily: 'daily',
  weekly: 'weekly',
  monthly: 'monthly',
  lifetime: 'total',
};

/** A budget of a guardrail is spent. */
export class GuardrailBudgetExceeded extends GatewayError {}

export function refused(refusal: Refusal, asked: Asked): GatewayError {
  const { scope, guardrailId } = refusal;
  if (guardrailId !== undefined || scope === 'member') return guardrailBudgetExceeded(refusal, asked);
  return REFUSALS[scope](refusal, asked);
}

function guardrailBudgetExceeded(refusal: Refusal, asked: Asked): GatewayError {
  const { window, limitNanos, guardrailId = null } = refusal;
  return new GuardrailBudgetExceeded(
    'permission',
    `Guardrail ${window} budget of $${dollars(limitNanos)} exceeded.${shortage(asked)}`,
    { metadata: { ...metadataOf(refusal), limit_source: 'guardrail', guardrail_id: guardrailId } },
  );
}

const REFUSALS: Readonly<
  Record<Exclude<Refusal['scope'], 'member'>, (refusal: Refusal, asked: Asked) => GatewayError>
> = {
  key: (refusal, asked) =>
    new GatewayError(
      'payment',
      `Key limit exceeded (${WINDOW_WORDS[refusal.window]} limit). Manage it using /v1/keys. ${leftOf(refusal)}.${shortage(asked)}`,
      { metadata: { ...metadataOf(refusal), key_hash: asked.scopes.key } },
    ),
  workspace: (refusal, asked) =>
    new GatewayError(
      'permission',
      `Workspace ${refusal.window} budget of $${dollars(refusal.limitNanos)} exceeded.${shortage(asked)} Contact your org admin.`,
      { metadata: metadataOf(refusal) },
    ),
  account: (refusal, asked) =>
    new GatewayError(
      'payment',
      `Insufficient credits.${shortage(asked)} Add more using signalbox credits set`,
      { metadata: metadataOf(refusal) },
    ),
};

/** What is left of a limit, and when it is whole again. */
function leftOf({ window, limitNanos, leftNanos }: Refusal): string {
  return `$${dollars(leftNanos)} of $${dollars(limitNanos)} is left, and it ${RESETS[window]}`;
}

/** When a limit resets: all windows are those of UTC. */
const RESETS: Readonly<Record<LimitWindow, string>> = {
  daily: 'resets at 00:00 UTC',
  weekly: 'resets on Monday at 00:00 UTC',
  monthly: 'resets on the 1st at 00:00 UTC',
  lifetime: 'does not reset',
};

/** A price in dollars with cents, or with as many decimals as it has. */
export function dollars(nanos: Nanos): string {
  return nanos % NANOS_PER_CENT === 0n ? usdOf(nanos).toFixed(2) : formatUsd(nanos);
}

const NANOS_PER_CENT = 10_000_000n;

/** A sentence that says how much output could be paid for, or why the prompt counts as so long. */
function shortage({ requestedTokens, affordableTokens, filledContext }: Asked): string {
  if (affordableTokens <= 0 && filledContext !== undefined) {
    return ` Its files, recordings or pages may fill the context of the model, so ${filledContext} prompt tokens would have to be paid for.`;
  }
  if (affordableTokens <= 0) return '';
  return ` This request asks for up to ${requestedTokens} output tokens, but only ${affordableTokens} can be afforded: ask for fewer.`;
}

function metadataOf({ scope, window, limitNanos, leftNanos }: Refusal) {
  return {
    provider_name: null,
    limit_source: scope,
    limit_window: WINDOW_WORDS[window],
    limit_usd: usdOf(limitNanos),
    left_usd: usdOf(leftNanos),
  };
}
