import { useState } from 'preact/hooks';
import { servedAt } from '../../api/served-at.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { FieldRow } from '../../parts/form/fields.tsx';
import type { Draft } from './conversation.ts';
import { ExplainRouting } from './explain-routing.tsx';
import type { Format } from './format.ts';
import type { ReadSettings, SettingTexts } from './settings.ts';
import { SNIPPETS } from './snippets.ts';

/** One of the two models, as its request stands now. */
export interface Side {
  readonly letter: string;
  readonly draft: Draft;
}

interface Props {
  readonly format: Format;
  readonly sides: readonly Side[];
  readonly actAs: string | null;
  readonly texts: SettingTexts;
  readonly problems: ReadSettings['problems'];
  readonly onTexts: (change: Partial<SettingTexts>) => void;
}

const TABS = [
  ['explain', 'Explain routing'],
  ['request', 'Request'],
  ['parameters', 'Parameters'],
] as const;

/** Beside the conversation: what routing would do, the request as code, and its parameters. */
export function SidePanel(props: Props) {
  const { sides, format, actAs } = props;
  const [tab, setTab] = useState<(typeof TABS)[number][0]>('explain');
  const [letter, setLetter] = useState('A');
  const side = sides.find((each) => each.letter === letter) ?? sides[0];
  const step = (event: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    const at = TABS.findIndex(([name]) => name === tab);
    const next = TABS[(at + by + TABS.length) % TABS.length]?.[0] ?? tab;
    setTab(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <aside class="pg-r" aria-labelledby="side-title">
      <h2 class="vh" id="side-title">
        About the request
      </h2>
      <div class="tabs" role="tablist" aria-label="About the request" onKeyDown={step}>
        {TABS.map(([name, title]) => (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={tab === name}
            aria-controls="side-panel"
            tabIndex={tab === name ? 0 : -1}
            onClick={() => setTab(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div id="side-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab !== 'parameters' && sides.length > 1 && (
          <fieldset class="seg" aria-label="Of which model">
            {sides.map((each) => (
              <button
                key={each.letter}
                type="button"
                aria-pressed={each === side}
                onClick={() => setLetter(each.letter)}
              >
                {each.letter}
              </button>
            ))}
          </fieldset>
        )}
        {tab === 'explain' && side !== undefined && (
          <ExplainRouting format={format} draft={side.draft} actAs={actAs} />
        )}
        {tab === 'request' && side !== undefined && <RequestCode format={format} draft={side.draft} />}
        {tab === 'parameters' && <Parameters {...props} />}
      </div>
    </aside>
  );
}

function RequestCode({ format, draft }: { readonly format: Format; readonly draft: Draft }) {
  const [name, setName] = useState('curl');
  const snippet = SNIPPETS.find((each) => each.name === name) ?? SNIPPETS[0];
  return (
    <div class="stack">
      <fieldset class="seg" aria-label="Language">
        {SNIPPETS.map((each) => (
          <button
            key={each.name}
            type="button"
            aria-pressed={each.name === name}
            onClick={() => setName(each.name)}
          >
            {each.title}
          </button>
        ))}
      </fieldset>
      {snippet !== undefined && (
        <CodeBlock code={snippet.code(format.name, draft, servedAt())} what="the request" />
      )}
      <p class="hint">
        SIGNALBOX_KEY is a variable of your environment: the console does not have the key itself.
      </p>
    </div>
  );
}

const FIELDS: readonly (readonly [
  name: Exclude<keyof SettingTexts, 'effort'>,
  label: string,
  hint: string,
  lines: number,
])[] = [
  ['maxTokens', 'Most tokens of the answer', 'Empty: what the model allows; messages: 4,096.', 1],
  ['temperature', 'Temperature', '0 to 2. Empty: model default.', 1],
  ['topP', 'Top p', '0 to 1. Empty: model default.', 1],
  ['provider', 'Routing preferences', 'The member provider, such as {"order": ["anthropic"]}.', 4],
];

function Parameters({ texts, problems, onTexts }: Pick<Props, 'texts' | 'problems' | 'onTexts'>) {
  return (
    <div class="stack">
      {FIELDS.map(([name, label, hint, lines]) => {
        const id = `setting-${name}`;
        const problem = problems[name];
        const shared = {
          id,
          class: 'in-t mono',
          value: texts[name],
          spellcheck: false,
          'aria-invalid': problem !== undefined,
          'aria-describedby': `${id}-note`,
        } as const;
        return (
          <FieldRow key={name} field={{ id, problem }} label={label} hint={hint}>
            {lines > 1 ? (
              <textarea
                {...shared}
                rows={lines}
                onInput={(event) => onTexts({ [name]: event.currentTarget.value })}
              />
            ) : (
              <input
                {...shared}
                inputMode="decimal"
                onInput={(event) => onTexts({ [name]: event.currentTarget.value })}
              />
            )}
          </FieldRow>
        );
      })}
    </div>
  );
}
