import { isJsonObject, type JsonObject, readJson } from '../../kit/json/json.ts';
import { listMembers } from '../../kit/json/list-members.ts';
import { forEachSliced, type Sliced } from '../../kit/loop/turns.ts';
import type { Provider } from '../catalog.ts';
import { isRouterId } from '../virtual-ids.ts';

/** A model as its provider lists it. */
export interface ListedModel {
  /** The provider's own name for it. */
  readonly model: string;
  readonly name?: string;
  readonly contextLength?: number;
}

/** What came of asking a provider for its models. */
export interface ModelListing {
  /** Status of the answer; null = there was none. */
  readonly status: number | null;
  /** What it lists; absent = there is no list. */
  readonly list?: ModelList;
  /** Why there is no list: the provider's own words, or what was in the way. Without secrets and addresses. */
  readonly problem?: string;
  /**
   * It lists its models without a key too, so that the list says nothing of the key. Absent = it does not, or no key
   * was sent.
   */
  readonly isOpenToAll?: boolean;
  /** There was nothing to ask: it has no list of models, or its key cannot ask for one. Absent = it was asked. */
  readonly isUnasked?: boolean;
  readonly milliseconds: number;
}

/** A list of models. */
export interface ModelList {
  /** The first of them, each once. */
  readonly models: readonly ListedModel[];
  /** How many are listed; at least so many, if the list is cut. */
  readonly count: number;
  /** The answer is too long to be read to its end. */
  readonly isCut: boolean;
}

/** Asks a provider for its models with the credential of its entry. */
export type ListModels = (provider: Provider) => Promise<ModelListing>;

/** Most models of a list that are taken. */
const MAX_MODELS = 2_000;

const MAX_NAME_CHARACTERS = 200;

/** Members with the length of the context, as servers call them. */
const CONTEXT_MEMBERS = [
  'context_length',
  'max_model_len',
  'context_window',
  'max_context_length',
  'max_input_tokens',
  'inputTokenLimit',
  'n_ctx_train',
] as const;

/** Members that hold such a length one level deeper. */
const DEEPER: readonly string[] = ['meta', 'top_provider', 'limits'];

/**
 * The models of a text that lists them: of OpenAI, Anthropic and Google, and as Ollama, vLLM, llama.cpp, LM Studio and
 * aggregators extend it. `isCut`: the text is the beginning of a longer one. Undefined if it is no list.
 */
export function* readModelList(text: string, isCut = false): Sliced<ModelList | undefined> {
  const members = yield* listMembers(text, ['data', 'models'], MAX_MODELS);
  if (members === undefined || (!members.isWhole && !isCut)) return undefined;
  const found = new Map<string, ListedModel>();
  yield* forEachSliced(members.first, (member) => {
    const reading = readJson(member);
    const listed = reading.ok && isJsonObject(reading.value) ? listedModel(reading.value) : undefined;
    if (listed !== undefined && !found.has(listed.model)) found.set(listed.model, listed);
  });
  return { models: [...found.values()], count: members.count, isCut: !members.isWhole };
}

function listedModel(entry: JsonObject): ListedModel | undefined {
  const { id, name, model, display_name: titled, displayName = titled } = entry;
  // Google has the id in `name`, behind the kind of the resource.
  const own = [id, model, name].find((text) => typeof text === 'string' && text !== '') as string | undefined;
  if (own === undefined || own.length > MAX_NAME_CHARACTERS) return undefined;
  const shown = [displayName, name].find((text) => typeof text === 'string' && text !== '') as
    | string
    | undefined;
  const contextLength = contextLengthIn(entry);
  const slug = own.replace(/^models\//, '');
  return {
    model: slug,
    ...(shown !== undefined && shown !== own && { name: shown.slice(0, MAX_NAME_CHARACTERS) }),
    ...(contextLength !== undefined && { contextLength }),
  };
}

const MAX_CONTEXT = 1_000_000_000;

function contextLengthIn(entry: JsonObject): number | undefined {
  for (const holder of [entry, ...DEEPER.map((name) => entry[name])]) {
    if (!isJsonObject(holder)) continue;
    for (const name of CONTEXT_MEMBERS) {
      const length = holder[name];
      if (Number.isInteger(length) && (length as number) > 0 && (length as number) <= MAX_CONTEXT) {
        return length as number;
      }
    }
  }
  return undefined;
}

/**
 * The id under which a model of a provider is offered: its own name if it has an author, else behind the slug of the
 * provider, as what another gateway offers under the id of a router. A colon would begin a variant.
 */
export function offeredId(slug: string, model: string, vendor: string | undefined): string {
  const name = model.toLowerCase().replace(/[^a-z0-9._/+-]+/g, '-');
  const trimmed = name.replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
  if (trimmed.includes('/') && !isRouterId(trimmed, vendor)) return trimmed;
  return `${slug}/${trimmed.replaceAll('/', '-')}`;
}
