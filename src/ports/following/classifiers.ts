import type { Nanos } from '../../kit/money.ts';
import type { SettledPosition } from '../generations/generations.ts';
import type { ScopeIds } from '../money/ledger.ts';
import type { FileMember, Page } from '../tenancy/tenancy.ts';

/** A question that a classifier answers of each generation, with a closed set of answers. */
export interface ClassifierDimension {
  /** Letters, digits and underscores, at most 64. */
  readonly name: string;
  readonly description: string | null;
  readonly values: readonly { readonly value: string; readonly description: string | null }[];
}

/** Bounds of classifiers, over the API and in the configuration file. */
export const CLASSIFIER_LIMITS = {
  nameCharacters: 255,
  descriptionCharacters: 2_000,
  /** Characters of the meaning of a dimension or a value. */
  meaningCharacters: 500,
  valueCharacters: 100,
  modelCharacters: 255,
  dimensions: 8,
  values: 50,
} as const;

/** The answer to a dimension of which no value fits: there is no tag then, so no value may be called so. */
export const NOTHING_FITS = '(none of these)';

export const DIMENSION_NAME = {
  pattern: '^[A-Za-z0-9_]{1,64}$',
  explain: 'must be 1 to 64 letters, digits and underscores',
};

/**
 * What a classifier's own generations count as in the place of a key: limits of keys count nothing of them, and its
 * monthly budget is a limit of this one.
 */
export function classifierKey(id: string): string {
  return `${KEY_PREFIX}${id}`;
}

/** The classifier that such a key stands for; undefined = it is the hash of a key. */
export function classifierOfKey(hash: string): string | undefined {
  return hash.startsWith(KEY_PREFIX) ? hash.slice(KEY_PREFIX.length) : undefined;
}

/** What is shown of a classifier in the place of a key. */
export function classifierTitle(name: string): string {
  return `Classifier ${name}`;
}

/** The name of a classifier's place among the settled generations. */
export function classifierFollowerId(id: string): string {
  return `classifier/${id}`;
}

/** Whether a generation is a classifier's own: `key` is the scope that it counts in. */
export function isOfClassifier({ key }: Pick<ScopeIds, 'key'>): boolean {
  return key.startsWith(KEY_PREFIX);
}

const KEY_PREFIX = 'classifier/';

/** Tags the generations of a workspace after their answers. A workspace has at most one that is active. */
export interface Classifier extends ClassifierSettings {
  readonly id: string;
  readonly accountId: string;
  readonly workspaceId: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number | null;
  readonly fileMember: FileMember;
}

export interface ClassifierSettings {
  readonly name: string;
  readonly description: string | null;
  readonly isActive: boolean;
  readonly dimensions: readonly ClassifierDimension[];
  readonly model: string;
  /** Share of sessions that are tagged, above 0 to 1. */
  readonly samplingRate: number;
  /** The most that it may spend in a calendar month (UTC); null = no limit. */
  readonly monthlyBudgetNanos: Nanos | null;
}

export type ClassifierEdit = Partial<ClassifierSettings & Pick<Classifier, 'fileMember'>>;

/** Storage of classifiers. A change that would give a workspace a second active one is refused. */
export interface ClassifierStore {
  /** Does nothing if the id exists. Resolves with what is stored. */
  insert(classifier: Classifier): Promise<Classifier | 'has-active'>;
  find(accountId: string, id: string): Promise<Classifier | undefined>;
  /** The oldest first; null = of all workspaces of the account. */
  list(
    accountId: string,
    workspaceId: string | null,
    page: Page,
  ): Promise<{ readonly classifiers: readonly Classifier[]; readonly total: number }>;
  /** Active ones of all accounts. */
  listActive(): Promise<readonly Classifier[]>;
  listDeclared(): Promise<readonly Classifier[]>;
  /** Ids of the classifiers of all accounts. */
  listIds(): Promise<readonly string[]>;
  /** `decide` may throw to refuse. Undefined if there is none. */
  update(
    accountId: string,
    id: string,
    decide: (current: Classifier) => ClassifierEdit,
    atMs: number,
  ): Promise<Classifier | 'has-active' | undefined>;
  /** False if there is none. Its classifications stay. */
  delete(accountId: string, id: string): Promise<boolean>;
}

export interface ClassifierTag {
  readonly generationId: string;
  readonly classifierId: string;
  /** When the generation was created, so that a query over time finds its tags. */
  readonly createdAtMs: number;
  readonly dimension: string;
  readonly value: string;
}

/** What a classifier has said of a generation, or why it has said nothing. */
export interface Classification {
  readonly classifierId: string;
  readonly generationId: string;
  readonly createdAtMs: number;
  /** Values by dimension; none if nothing fits. */
  readonly tags: Readonly<Record<string, string>>;
  /** Why tags are missing; null = nothing went wrong. */
  readonly problem: string | null;
  readonly classifiedAtMs: number;
}

/** Classifications in the order of their writing. */
export interface ClassificationPage {
  readonly classifications: readonly Classification[];
  /** Behind the last one; the given place if there are none. */
  readonly place: number;
}

/**
 * Classifications, shared by all gateways: events get their tags from here, and again after they were lost. A
 * generation is classified once by each classifier.
 */
export interface ClassificationStore {
  /** Adds all or none; a generation that the classifier has classified before stays as it is. */
  add(classifications: readonly Classification[]): Promise<void>;
  /** Which of some generations a classifier has classified. */
  classified(classifierId: string, generationIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** At most `limit` behind a place, 0 = all. None appears before a place that was reached. */
  behind(place: number, limit: number): Promise<ClassificationPage>;
  /** The place behind all. */
  end(): Promise<number>;
  /** The newest one of a classifier that has a problem. */
  lastProblem(classifierId: string): Promise<Classification | undefined>;
  /** Removes those of generations before a moment. Resolves with their number. */
  prune(beforeMs: number): Promise<number>;
}

export function tagsOf({ classifierId, generationId, createdAtMs, tags }: Classification): ClassifierTag[] {
  return Object.entries(tags).map(([dimension, value]) => ({
    generationId,
    classifierId,
    createdAtMs,
    dimension,
    value,
  }));
}

export const RUN_STATES = ['running', 'done', 'stopped', 'failed'] as const;

/** `stopped`: its budget is spent, or it was cancelled. */
export type RunState = (typeof RUN_STATES)[number];

/** A classifier over generations of the past. */
export interface ClassifierRun {
  readonly id: string;
  readonly classifierId: string;
  readonly accountId: string;
  /** First millisecond of settlement. */
  readonly fromMs: number;
  /** The millisecond after the last one. */
  readonly toMs: number;
  /** The most that it may spend; null = no limit besides the monthly budget. */
  readonly budgetNanos: Nanos | null;
  readonly progress: RunProgress;
  readonly createdAtMs: number;
}

export interface RunProgress {
  readonly state: RunState;
  /** Behind the last generation that was looked at; null = none was. */
  readonly place: SettledPosition | null;
  /** Generations of the workspace that were looked at. */
  readonly seen: number;
  /** Generations among those seen that have tags now. */
  readonly tagged: number;
  /** Generations among those seen without content that may be read. */
  readonly withoutContent: number;
  /** Generations among those seen that the model has failed at. */
  readonly failed: number;
  readonly spentNanos: Nanos;
  /** Why it ended early, or what it waits for; null = nothing. */
  readonly problem: string | null;
  readonly updatedAtMs: number;
}

export interface ClassifierRunStore {
  /** False, and nothing is stored, while another run of its classifier is under way. */
  insert(run: ClassifierRun): Promise<boolean>;
  find(accountId: string, classifierId: string, id: string): Promise<ClassifierRun | undefined>;
  /** Runs of a classifier, newest first. */
  list(
    accountId: string,
    classifierId: string,
    page: Page,
  ): Promise<{ readonly runs: readonly ClassifierRun[]; readonly total: number }>;
  /** Runs of all accounts, oldest first. */
  listRunning(): Promise<readonly ClassifierRun[]>;
  /** Notes progress of a run that is running. False if it is not, any more. */
  note(id: string, progress: RunProgress): Promise<boolean>;
}
