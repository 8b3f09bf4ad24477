import type { Format } from '../ir/items.ts';
import { NO_QUIRKS, type Quirks } from '../ir/quirks.ts';
import type { Timeouts } from '../kit/net/timeouts.ts';
import type { Provider } from './catalog.ts';
import type { DialectWord, ProviderEntry } from './entries.ts';
import { parseCredential } from './providers/credential.ts';
import type { Auth } from './providers/provider-members.ts';
import { authOf, rowOf } from './providers/provider-rows.ts';
import type { ProviderRow } from './providers/provider-table.ts';

/** Authorization schemes whose credential can contain the address. */
const ADDRESSING: ReadonlySet<Auth> = new Set(['google', 'azure', 'aws']);

const DEFAULT_TIMEOUTS: Timeouts = { connect: 10_000, firstByte: 120_000, idle: 120_000, total: 600_000 };

/** Builds a provider from its configuration and its row of the table. Throws for an entry that was not validated. */
export function buildProvider(entry: ProviderEntry): Provider {
  const row = rowOf(entry.slug);
  const word = entry.dialect ?? row?.dialect;
  const auth = authOf(entry);
  const address = entry.base_url ?? row?.base_url;
  if (!word || auth === undefined || (!address && word !== 'simulator' && !ADDRESSING.has(auth))) {
    throw new Error(`provider ${entry.slug} has neither a dialect and address nor a row in the table`);
  }
  const dialect = dialectIn(word);
  const isPublic = row !== undefined && !entry.base_url && !entry.dialect;
  return {
    slug: entry.slug,
    name: entry.name ?? row?.name ?? entry.slug,
    dialect,
    ...simulatedFormatOf(address),
    baseUrl: dialect === 'simulator' ? 'simulator://local' : address?.replace(/\/+$/, ''),
    ...credentialOf(entry, auth),
    headers: entry.headers ?? {},
    auth,
    dataPolicy: dataPolicyOf(entry, dialect, isPublic ? row : undefined),
    timeouts: timeoutsOf(entry),
    quirks: quirksOf(entry, row),
    ...(row?.facts !== undefined && { facts: row.facts }),
    isPublic,
    ...(entry.unpriced === 'allow' && { servesUnpriced: true }),
  };
}

/** The dialect in a word of the configuration: the part after the vendor. */
function dialectIn(word: DialectWord): Provider['dialect'] {
  const name: DialectIn<DialectWord> = word.slice(word.indexOf('-') + 1) as DialectIn<DialectWord>;
  return name;
}

type DialectIn<Word extends string> = Word extends `${string}-${infer Name}` ? Name : Word;

/** True if the table has all that is needed to call a provider except a credential. */
export function isReachable(slug: string): boolean {
  const row = rowOf(slug);
  const auth = authOf({ slug });
  return row?.dialect !== undefined && auth !== undefined && (!!row.base_url || ADDRESSING.has(auth));
}

function simulatedFormatOf(address: string | undefined): Pick<Provider, 'simulatedFormat'> {
  const format = /^simulator:\/\/(responses|messages|chat)\/?$/.exec(address ?? '')?.[1];
  return format === undefined ? {} : { simulatedFormat: format as Format };
}

function credentialOf({ slug, api_key: text }: ProviderEntry, auth: Auth): Pick<Provider, 'credential'> {
  if (!text) return {};
  const reading = parseCredential(auth, text);
  if (!reading.ok) throw new Error(`the credential of provider ${slug} ${reading.problem}`);
  return { credential: reading.credential };
}

function dataPolicyOf(
  { data_policy: given }: ProviderEntry,
  dialect: Provider['dialect'],
  row: ProviderRow | undefined,
): Provider['dataPolicy'] {
  // The simulator runs inside the gateway and keeps nothing.
  if (dialect === 'simulator') return { training: false, retainsPrompts: false };
  return given ? { training: given.training, retainsPrompts: given.retains_prompts } : row?.data_policy;
}

/** Quirks of the table, overridden by what the configuration says of the provider. */
function quirksOf({ takes }: ProviderEntry, row: ProviderRow | undefined): Quirks {
  const quirks = row?.quirks ?? NO_QUIRKS;
  if (!takes) return quirks;
  const { takesSystemTurns = false, takesCallersVersion = false } = quirks;
  return {
    ...quirks,
    takesSystemTurns: takes.system_turns ?? takesSystemTurns,
    takesCallersVersion: takes.callers_version ?? takesCallersVersion,
  };
}

function timeoutsOf({ timeouts_ms: given }: ProviderEntry): Timeouts {
  return {
    connect: given?.connect ?? DEFAULT_TIMEOUTS.connect,
    firstByte: given?.first_byte ?? DEFAULT_TIMEOUTS.firstByte,
    idle: given?.idle ?? DEFAULT_TIMEOUTS.idle,
    total: given?.total ?? DEFAULT_TIMEOUTS.total,
  };
}
