import Type, { type Static } from 'typebox';
import { closed, oneOf } from '../../kit/json/schema.ts';
import { FILTER_ACTIONS } from '../../ports/tenancy/guardrails.ts';
import { FILTER_MEMBERS } from './guardrail.ts';

const MAX_TRIAL_CHARACTERS = 1_000_000;

/** Body of `POST /guardrails/{id}/test`. Filters that are given stand in for those that are stored. */
export const guardrailTrialSchema = closed({
  text: Type.String({ maxLength: MAX_TRIAL_CHARACTERS }),
  direction: Type.Optional(
    oneOf(['sent', 'received'], {
      description: 'Whether the text goes to a model, as without it, or comes back from one.',
    }),
  ),
  role: Type.Optional(
    oneOf(['user', 'assistant', 'system', 'developer', 'tool'], {
      description: 'Whose message the text is in; `user` without it.',
    }),
  ),
  ...FILTER_MEMBERS,
});

export type GuardrailTrial = Static<typeof guardrailTrialSchema>;

export const guardrailVerdictSchema = Type.Object({
  data: Type.Object({
    action: oneOf(['allowed', 'blocked', 'redacted', 'flagged'], {
      description: 'What would become of the text: the strictest action of all matches.',
    }),
    text: Type.String({ description: 'The text with all matches replaced that are to be redacted.' }),
    findings: Type.Array(
      Type.Object({
        name: Type.String({ description: 'Slug or name of the filter, or the label of your own.' }),
        label: Type.String(),
        kind: oneOf(['content-filter', 'prompt-injection', 'unfinished-scan']),
        engine: oneOf(['regex', 'nlp', 'service']),
        action: oneOf(FILTER_ACTIONS),
        start: Type.Integer({
          description: 'First UTF-16 unit of the match; of services, in the text that the filters left.',
        }),
        end: Type.Integer({ description: 'The unit behind its last.' }),
        text: Type.String({ description: 'What matched.' }),
        redaction: Type.String({ description: 'What stands in its place if it is redacted.' }),
      }),
    ),
    failures: Type.Array(
      Type.Object({
        engine: oneOf(['nlp', 'service']),
        on_failure: oneOf(['closed', 'open'], {
          description: 'What becomes of texts then: they are refused (`closed`) or pass.',
        }),
        reason: Type.String(),
      }),
      { description: 'Services that gave no verdict.' },
    ),
  }),
});

export type GuardrailVerdict = Static<typeof guardrailVerdictSchema>['data'];
