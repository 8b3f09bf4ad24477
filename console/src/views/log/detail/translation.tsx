import type { RoutingMetadata } from '../../../api/contract.ts';

type Entries = NonNullable<RoutingMetadata['translation']>;

/** The verdict of each action: a sign, a word and a class. */
const VERDICTS: Readonly<Record<Entries[number]['action'], readonly [text: string, name: string]>> = {
  dropped: ['✗ dropped', 'd'],
  ignored: ['✗ ignored', 'd'],
  coerced: ['~ adapted', 'a'],
  renamed: ['~ renamed', 'a'],
  passed_on: ['✓ passed on', 'k'],
};

interface Props {
  readonly id: string;
  readonly entries: Entries;
  /** Whether any upstream was called. */
  readonly wasCalled: boolean;
  /** Whether guardrails found something, which they may have changed. */
  readonly wasFound: boolean;
}

/** What became of fields that the upstream did not get as they came. */
export function Translation({ id, entries, wasCalled, wasFound }: Props) {
  return (
    <section class="dw-s" id={id}>
      <div class="hd">
        <h2>Translation</h2>
      </div>
      {entries.length === 0 ? (
        <p class="t3">{sentenceOf(wasCalled, wasFound)}</p>
      ) : (
        <table class="in plain">
          <thead class="vh">
            <tr>
              <th>Field</th>
              <th>Verdict</th>
              <th>What became of it</th>
            </tr>
          </thead>
          <tbody>
            {entries.map(({ field, action, detail }) => (
              <tr key={`${field} ${action} ${detail}`}>
                <td>
                  <code>{field}</code>
                </td>
                <td>
                  <span class={`verd ${VERDICTS[action]?.[1] ?? 'a'}`}>
                    {VERDICTS[action]?.[0] ?? action}
                  </span>
                </td>
                <td>{detail}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function sentenceOf(wasCalled: boolean, wasFound: boolean): string {
  if (!wasCalled) return 'Nothing was translated: no upstream was called.';
  return wasFound
    ? 'No field was lost or renamed. What guardrails found stands below.'
    : 'Every field reached the upstream as it came.';
}
