import { Icon } from '../../parts/icon.tsx';
import { BUILTINS, type DraftAction, type DraftPattern, newPattern } from './draft.ts';
import { type RuleProps, RuleSection } from './rule-section.tsx';

const ACTIONS: readonly (readonly [DraftAction, string])[] = [
  ['off', 'Off'],
  ['flag', 'Flag'],
  ['redact', 'Redact'],
  ['block', 'Block'],
];

/** Filters of texts: those that the gateway brings along, and patterns of the reader's own. */
export function ContentRules({ draft, change, problems, isReadOnly }: RuleProps) {
  const setPattern = (id: number, part: Partial<DraftPattern>) =>
    change({ patterns: draft.patterns.map((each) => (each.id === id ? { ...each, ...part } : each)) });
  return (
    <RuleSection
      title="Content"
      about={
        <>
          Every text that goes to a provider or comes back, streams and tool arguments included. <b>Block</b>{' '}
          refuses, <b>redact</b> replaces, <b>flag</b> only notes it in the log.
        </>
      }
    >
      <table class="in" aria-label="Built-in filters">
        <thead>
          <tr>
            <th>Built-in filter</th>
            <th class="o2">How</th>
            <th class="num">Action</th>
          </tr>
        </thead>
        <tbody>
          {BUILTINS.map(([slug, title, how]) => (
            <tr key={slug}>
              <td>
                <b>{title}</b>
                <RowProblem text={problems[`builtin ${slug}`]} />
              </td>
              <td class="dim o2 nw">{how}</td>
              <td class="num">
                <ActionChoice
                  label={title}
                  actions={ACTIONS}
                  value={draft.builtins[slug]}
                  isReadOnly={isReadOnly}
                  onValue={(action) => change({ builtins: { ...draft.builtins, [slug]: action } })}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {draft.builtins['regex-prompt-injection'] !== 'off' && (
        <label class="lab">
          Prompt injection is looked for in
          <select
            class="in-t ws-choice"
            disabled={isReadOnly}
            value={draft.scanScope}
            onChange={({ currentTarget }) =>
              change({ scanScope: currentTarget.value as 'user_only' | 'all_messages' })
            }
          >
            <option value="all_messages">all messages</option>
            <option value="user_only">messages of the user</option>
          </select>
        </label>
      )}
      {draft.patterns.length > 0 && (
        <table class="in fix" aria-label="Own patterns">
          <colgroup>
            <col />
            <col class="c-104" />
            <col class="c-180" />
            <col class="c-38" />
          </colgroup>
          <thead>
            <tr>
              <th>Own pattern</th>
              <th>Label</th>
              <th class="num">Action</th>
              <th>
                <span class="vh">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {draft.patterns.map((row) => (
              <tr key={row.id}>
                <td>
                  <input
                    class="in-t mono"
                    aria-label="Pattern"
                    aria-invalid={problems[`pattern ${row.id}`] !== undefined}
                    spellcheck={false}
                    disabled={isReadOnly}
                    value={row.pattern}
                    onInput={(event) => setPattern(row.id, { pattern: event.currentTarget.value })}
                  />
                  <RowProblem text={problems[`pattern ${row.id}`]} />
                </td>
                <td>
                  <input
                    class="in-t"
                    aria-label="Label"
                    disabled={isReadOnly}
                    value={row.label}
                    onInput={(event) => setPattern(row.id, { label: event.currentTarget.value })}
                  />
                </td>
                <td class="num">
                  <ActionChoice
                    label={`Action of the pattern ${row.pattern}`}
                    actions={ACTIONS.filter(([action]) => action !== 'off')}
                    value={row.action}
                    isReadOnly={isReadOnly}
                    onValue={(action) => action !== 'off' && setPattern(row.id, { action })}
                  />
                </td>
                <td class="num">
                  <button
                    class="b quiet ico"
                    type="button"
                    aria-label={`Remove the pattern ${row.pattern}`}
                    disabled={isReadOnly}
                    onClick={() => change({ patterns: draft.patterns.filter(({ id }) => id !== row.id) })}
                  >
                    <Icon name="cross" size={14} />
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <button
        class="b"
        type="button"
        disabled={isReadOnly}
        onClick={() => change({ patterns: [...draft.patterns, newPattern()] })}
      >
        <Icon name="plus" size={14} />
        Own pattern
      </button>
      <p class="hint">
        Regular expressions without lookaround and backreferences: they run in linear time, whatever the text
        is.
      </p>
    </RuleSection>
  );
}

/** What is wrong with the filter of a row; undefined = nothing. */
function RowProblem({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : (
    <p class="err">
      <Icon name="warning" size={14} />
      <span>{text}</span>
    </p>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly actions: readonly (readonly [DraftAction, string])[];
  readonly value: DraftAction;
  readonly isReadOnly: boolean;
  readonly onValue: (action: DraftAction) => void;
}

function ActionChoice({ label, actions, value, isReadOnly, onValue }: ChoiceProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has a legend of its own look
    <div class="seg" role="group" aria-label={label}>
      {actions.map(([action, title]) => (
        <button
          key={action}
          type="button"
          disabled={isReadOnly}
          aria-pressed={action === value}
          class={action === value && action !== 'off' ? `a-${action}` : undefined}
          onClick={() => onValue(action)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
