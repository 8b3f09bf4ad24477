import { useEffect, useMemo } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import { useCurrentKey } from '../../api/current-key.ts';
import { useModels } from '../../api/models.ts';
import { Icon } from '../../parts/icon.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import { usePayer } from '../keys/use-payer.ts';
import { Composer } from './composer.tsx';
import { conversationOf, type Draft, type Picture, type ToolTurn, userTurn } from './conversation.ts';
import { FORMATS, formatNamed, isFormat } from './formats.ts';
import { Pane } from './pane.tsx';
import { openCalls, turnsOf } from './pane-state.ts';
import { KeyPicker, ModelPicker } from './pickers.tsx';
import { type Replayed, useReplay } from './replay.tsx';
import { NO_SETTINGS, readSettings, readTools, type SettingTexts } from './settings.ts';
import { SidePanel } from './side.tsx';
import { useKept } from './use-kept.ts';
import { type Asking, type PaneControl, usePane } from './use-pane.ts';

/** Stands for a message that is not written yet, where a request is shown or explained. */
const EXAMPLE_TEXT = 'Hello';

const NO_PICTURES: readonly Picture[] = [];

/** Requests by hand: any model, three formats, one model or two side by side. */
export function Playground() {
  const address = useAddress();
  const { query } = address;
  const change = (changes: Readonly<Record<string, string | null>>): void =>
    go(addressWith(address, changes), { replace: true });
  const format = formatNamed(query.get('format'));
  const isPair = query.has('second');

  const [system, setSystem] = useKept('system', '');
  const [text, setText] = useKept('text', '');
  const [pictures, setPictures] = useKept('pictures', NO_PICTURES);
  const [toolsText, setToolsText] = useKept('tools', '');
  const [texts, setTexts] = useKept('settings', NO_SETTINGS);
  const { settings, problems } = useMemo(() => readSettings(texts), [texts]);
  const tools = useMemo(() => {
    const read = readTools(toolsText);
    return 'tools' in read ? read.tools : [];
  }, [toolsText]);

  const models = useModels();
  const ids = models.map(({ id }) => id);
  const modelAt = (name: string): string => query.get(name) || (models[0]?.id ?? '');
  const model = query.get('model') ?? preferred(ids);
  const second = modelAt('second');
  const acting = useActingKey(query.get('key'));
  const paneA = usePane('a');
  const paneB = usePane('b');

  const draftFor = (of: string): Omit<Draft, 'turns'> => ({ model: of, system, tools, settings });
  const askingFor = (of: string): Asking => ({ format, draft: draftFor(of), actAs: acting.actAs });
  const obstacle = obstacleOf({
    isEmpty: text.trim() === '' && pictures.length === 0,
    hasModel: model !== '',
    hasKey: acting.isReady,
    hasProblem: Object.keys(problems).length > 0,
    isRunning: paneA.isRunning || (isPair && paneB.isRunning),
  });

  const send = (): void => {
    if (obstacle !== null) return;
    const turn = userTurn(text, pictures);
    paneA.ask([...unanswered(paneA), turn], askingFor(model));
    if (isPair) paneB.ask([...unanswered(paneB), turn], askingFor(second));
    setText(() => '');
    setPictures(() => NO_PICTURES);
  };
  const clear = (): void => {
    paneA.load([]);
    paneB.load([]);
    change({ generation: null });
  };
  useEscape(() => {
    paneA.stop();
    paneB.stop();
  });
  useReplayed(({ generation, input }) => {
    change({
      model: generation.routing?.requested ?? generation.model,
      ...(isFormat(generation.format) && { format: generation.format }),
    });
    if (input === null) return;
    const conversation = conversationOf(input);
    setSystem(() => conversation.system);
    paneA.load(conversation.turns);
  });

  const draftOf = (of: string, pane: PaneControl): Draft => {
    const said = turnsOf(pane.entries);
    const isNext = text !== '' || pictures.length > 0 || said.length === 0;
    const turns = isNext ? [...said, userTurn(text || EXAMPLE_TEXT, pictures)] : said;
    return { ...draftFor(of), turns };
  };
  const onResults = (pane: PaneControl, of: string) => (results: readonly string[]) =>
    pane.ask(
      openCalls(pane.entries).map(
        ({ id, name }, index): ToolTurn => ({ role: 'tool', callId: id, name, text: results[index] ?? '' }),
      ),
      askingFor(of),
    );
  const panes = [
    { letter: 'A', member: 'model', of: model, pane: paneA },
    ...(isPair ? [{ letter: 'B', member: 'second', of: second, pane: paneB }] : []),
  ];
  return (
    <>
      <TopBar title="Playground">
        <fieldset class="seg fmt" aria-label="Format">
          {FORMATS.map(({ name, title }) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === format.name}
              onClick={() => change({ format: name })}
            >
              {title}
            </button>
          ))}
        </fieldset>
        <button
          class={`b ${isPair ? 'on' : ''}`}
          type="button"
          aria-pressed={isPair}
          onClick={() => change({ second: isPair ? null : otherThan(model, ids) })}
        >
          Side by side
        </button>
        <button class="b" type="button" onClick={clear}>
          <Icon name="plus" size={14} />
          New
        </button>
      </TopBar>
      <main id="main">
        <div class="pg">
          <div class="pg-l">
            <div class="thread">
              <label class="turn">
                <span class="who">System</span>
                <textarea
                  class="in-t"
                  rows={1}
                  placeholder="How the model should behave"
                  value={system}
                  onInput={({ currentTarget: { value } }) => setSystem(() => value)}
                />
              </label>
            </div>
            <div class={`panes ${isPair ? '' : 'one'}`}>
              {panes.map(({ letter, member, of, pane }) => (
                <Pane
                  key={letter}
                  letter={isPair ? letter : null}
                  pane={pane}
                  picker={
                    <ModelPicker
                      label={isPair ? `Model ${letter}` : 'Model'}
                      value={of}
                      models={models}
                      onPick={(picked) => change({ [member]: picked })}
                    />
                  }
                  onRetry={() => pane.retry(askingFor(of))}
                  onResults={onResults(pane, of)}
                />
              ))}
            </div>
            <Composer
              text={text}
              onText={(next) => setText(() => next)}
              pictures={pictures}
              onPictures={setPictures}
              toolsText={toolsText}
              toolCount={tools.length}
              onTools={(next) => setToolsText(() => next)}
              effort={texts.effort}
              onEffort={(effort) => setTexts((before) => ({ ...before, effort }))}
              isPair={isPair}
              obstacle={obstacle}
              onSend={send}
            >
              {acting.isToChoose && (
                <KeyPicker
                  chosen={acting.chosen}
                  onPick={(key) => {
                    acting.choose(key);
                    change({ key });
                  }}
                />
              )}
              {acting.hasNone && (
                <span class="sm">
                  A management key sends no generations. <Link href="/keys">Create a key</Link> that pays.
                </span>
              )}
            </Composer>
          </div>
          <SidePanel
            format={format}
            sides={panes.map(({ letter, of, pane }) => ({ letter, draft: draftOf(of, pane) }))}
            actAs={acting.actAs}
            texts={texts}
            problems={problems}
            onTexts={(part: Partial<SettingTexts>) => setTexts((before) => ({ ...before, ...part }))}
          />
        </div>
      </main>
    </>
  );
}

/** The simulator costs nothing to try; without it the first model. */
function preferred(ids: readonly string[]): string {
  return ids.find((id) => id === 'simulator/standard') ?? ids[0] ?? '';
}

/** A model to compare with: the next of the list. */
function otherThan(model: string, ids: readonly string[]): string {
  return ids[(ids.indexOf(model) + 1) % ids.length] ?? model;
}

/** Which key pays: the one that is signed in, or for a management key the chosen one. */
function useActingKey(hash: string | null) {
  const isManagement = useCurrentKey().is_management_key;
  const payer = usePayer(hash, isManagement);
  return {
    ...payer,
    actAs: isManagement ? (payer.chosen?.hash ?? null) : null,
    isReady: !isManagement || payer.chosen !== undefined,
    isToChoose: isManagement && !payer.hasNone,
  };
}

/** Calls without results would be refused: a message in their place gives each an empty one. */
function unanswered({ entries }: PaneControl): readonly ToolTurn[] {
  return openCalls(entries).map(({ id, name }) => ({ role: 'tool', callId: id, name, text: '' }));
}

interface SendState {
  readonly isEmpty: boolean;
  readonly hasModel: boolean;
  readonly hasKey: boolean;
  readonly hasProblem: boolean;
  readonly isRunning: boolean;
}

function obstacleOf({ isEmpty, hasModel, hasKey, hasProblem, isRunning }: SendState): string | null {
  if (isRunning) return 'An answer is being written.';
  if (!hasModel) return 'No model is there yet.';
  if (!hasKey) return 'Choose the key that pays.';
  if (hasProblem) return 'A parameter is wrong.';
  return isEmpty ? 'Write a message.' : null;
}

function useEscape(action: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') action();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [action]);
}

/** Takes a past request over once, when it has been read. */
function useReplayed(take: (replayed: Replayed) => void): void {
  const { data } = useReplay();
  const [taken, setTaken] = useKept<string | null>('replayed', null);
  const id = data?.generation.id ?? null;
  useEffect(() => {
    if (taken === id) return;
    setTaken(() => id);
    if (data !== undefined) take(data);
  }, [id]);
}
