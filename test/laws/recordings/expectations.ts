import type { DialectName } from '../../../src/ir/items.ts';
import type { Summary } from './summary.ts';

/** What one answer says, and in which dialect. */
export type Expectation = Summary & { readonly dialect: DialectName };

/** The answers of recordings, by file name. */
export type Expectations = Readonly<Record<string, readonly Expectation[]>>;
