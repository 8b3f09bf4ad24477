import { Link } from '../../address/link.tsx';
import type { KeyObject } from '../../api/contract.ts';

type KeyGuardrail = NonNullable<KeyObject['guardrails']>[number];

const SCOPES: Readonly<Record<KeyGuardrail['scope'], string>> = {
  account: 'of the account',
  workspace: 'of the workspace',
  member: 'of the member',
  'api-key': 'of this key',
};

/** The guardrails of a key, with what each is the guardrail of. */
export function GuardrailLinks({ guardrails }: { readonly guardrails: readonly KeyGuardrail[] }) {
  return (
    <>
      {guardrails.map(({ id, name, scope }, index) => (
        <span key={`${id} ${scope}`}>
          {index > 0 && ', '}
          <Link href={`/guardrails/${scope === 'account' ? 'default' : id}`}>{name}</Link>{' '}
          <span class="dim">{SCOPES[scope]}</span>
        </span>
      ))}
    </>
  );
}
