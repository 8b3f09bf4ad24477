import type { Nanos } from '../../kit/money.ts';
import type { FileMember } from '../tenancy.ts';

/** A question that a classifier answers of each generation, with a closed set of answers. */
export interface ClassifierDimension {
  /** Letters, digits and underscores, at most 64. */
  readonly name: string;
  readonly description: string | null;
  readonly values: readonly { readonly value: string; readonly description: string | null }[];
}

/** Tags the generations of a workspace after their answers. A workspace has at most one that is active. */
export interface Classifier {
  /** UUID. */
  readonly id: string;
  readonly accountId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly isActive: boolean;
  readonly dimensions: readonly ClassifierDimension[];
  readonly model: string;
  /** Share of sessions that are tagged, above 0 to 1. */
  readonly samplingRate: number;
  /** The most that it may spend in a calendar month (UTC); null = no limit. */
  readonly monthlyBudgetNanos: Nanos | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number | null;
  readonly fileMember: FileMember;
}

/** What a classifier says of a generation. */
export interface ClassifierTag {
  readonly generationId: string;
  readonly classifierId: string;
  /** Of the generation, so that a query over time finds its tags. */
  readonly createdAtMs: number;
  readonly dimension: string;
  readonly value: string;
}
