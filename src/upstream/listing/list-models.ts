import type { Provider } from '../../catalog/catalog.ts';
import {
  type ListModels,
  type ModelList,
  type ModelListing,
  readModelList,
} from '../../catalog/providers/model-list.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import { isJsonObject, readJson } from '../../kit/json/json.ts';
import { runInTurns } from '../../kit/loop/turns.ts';
import { urlOf } from '../../kit/net/url-of.ts';
import { redact, redactStrings } from '../../kit/secrets/redact.ts';
import type { Egress, EgressReply } from '../../net/egress/egress.ts';
import { EgressProblem } from '../../net/egress/egress-problem.ts';
import { plainKeyHeaders } from '../auth/authorize.ts';
import { destinationOf } from '../auth/destination.ts';

const LIMITS = { totalMs: 15_000, maxBytes: 8 * 1024 * 1024, maxRedirects: 0 };

/** Characters of the provider's own words that are shown. */
const MAX_WORDS = 200;

/** Characters from which on a text is taken for a key, not for a placeholder. */
const MIN_KEY_CHARACTERS = 16;

type Asked = Omit<ModelListing, 'milliseconds'>;

/** Makes the question for the models of a provider. Its address is the operator's own, so that it may be private. */
export function modelLister(
  egress: Pick<Egress, 'call'>,
  now: () => number = () => performance.now(),
): ListModels {
  return async (provider) => {
    const beganAt = now();
    const asked = await askForModels(provider, egress);
    return { ...asked, milliseconds: Math.round(now() - beganAt) };
  };
}

async function askForModels(provider: Provider, egress: Pick<Egress, 'call'>): Promise<Asked> {
  if (provider.dialect === 'simulator') return notAsked('the simulator has no list of models');
  const { modelList, readError } = DIALECTS[provider.dialect].upstream;
  if (modelList === undefined) {
    return notAsked('providers of this dialect have no list of models: the first request will show');
  }
  const destination = destinationOf({ provider, modelId: '', upstreamModel: '' }, provider.credential);
  if (destination === undefined) return notAsked('neither the address nor the key says where to call');
  const keyHeaders = plainKeyHeaders(provider.auth, destination.credential);
  if (keyHeaders === undefined) {
    return notAsked('a key of this kind cannot ask for a list of models: the first request will show');
  }
  const url = `${destination.baseUrl}${modelList.path}`;
  const headers = { accept: 'application/json', 'user-agent': 'signalbox', ...modelList.headers };
  const secrets = Object.values(keyHeaders).flatMap((value) => [value, value.replace(/^Bearer /, '')]);
  const confidential = { secrets, host: urlOf(url)?.host };
  const ask = (more: Readonly<Record<string, string>>) =>
    egress.call(url, {
      headers: { ...headers, ...provider.headers, ...more },
      limits: LIMITS,
      signal: AbortSignal.timeout(LIMITS.totalMs),
    });
  const words = (text: string) => redact(text, confidential).trim().slice(0, MAX_WORDS);
  const reply = await ask(keyHeaders).catch(problemOf);
  if (typeof reply === 'string') return { status: null, problem: reply };
  const { status } = reply;
  if (status < 200 || status > 299) {
    const said = readError(bodyOf(reply), reply.headers)?.message ?? textOf(reply);
    return { status, problem: words(said) || `it answered with status ${status}` };
  }
  const list = await listIn(reply);
  if (list === undefined) {
    return { status, problem: 'the answer is no list of models: check that the address is that of the API' };
  }
  const isKeySent = Object.keys(keyHeaders).length > 0;
  const isOpenToAll = isKeySent && (await isList(await ask({}).catch(problemOf)));
  return {
    status,
    list: redactStrings(list, secrets.filter(isLong)),
    ...(isOpenToAll && { isOpenToAll }),
  };
}

/** A placeholder such as `test` is no secret, and part of ordinary names. */
function isLong(secret: string): boolean {
  return secret.length >= MIN_KEY_CHARACTERS;
}

function notAsked(problem: string): Asked {
  return { status: null, problem, isUnasked: true };
}

function problemOf(error: unknown): string {
  if (error instanceof EgressProblem) return error.message;
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return 'no answer within the time limit';
  throw error;
}

async function isList(reply: EgressReply | string): Promise<boolean> {
  return typeof reply !== 'string' && reply.status === 200 && (await listIn(reply)) !== undefined;
}

function listIn({ bytes, isCut }: EgressReply): Promise<ModelList | undefined> {
  return runInTurns(readModelList(bytes.toString(), isCut));
}

function bodyOf({ bytes }: EgressReply): unknown {
  const reading = readJson(bytes.toString());
  return reading.ok ? reading.value : undefined;
}

/** The words of a body that is no error of the dialect: of a page, nothing. */
function textOf(reply: EgressReply): string {
  const body = bodyOf(reply);
  if (isJsonObject(body)) return JSON.stringify(body);
  const text = reply.bytes.toString();
  return /^\s*</.test(text) ? '' : text;
}
