import type { CacheMark, ToolCallItem, ToolResultItem } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { RenderTarget } from '../dialect.ts';
import { Report } from '../shared/report/report.ts';
import { type FlatNames, flatNames } from '../shared/tools/tool-names.ts';
import { type ModelTraits, traitsOf } from './model-traits.ts';
import { takes } from './render-losses.ts';
import type { WireRole } from './wire.ts';

/** What rendering one request needs to know and collects on its way. */
export interface RenderContext {
  readonly request: GenerationRequest;
  readonly target: RenderTarget;
  readonly traits: ModelTraits;
  readonly report: Report;
  /** The upstream's names of the request's tools. */
  readonly names: FlatNames;
  /** False: the endpoint takes neither tools nor what earlier turns did with them. */
  readonly takesTools: boolean;
}

/** The context of a request that nothing was rendered of yet. */
export function renderContext(request: GenerationRequest, target: RenderTarget): RenderContext {
  return {
    request,
    target,
    traits: traitsOf(target.model),
    report: new Report(request),
    names: flatNames(request),
    takesTools: takes('tools', target),
  };
}

// --- The prompt on its way out --------------------------------------------------------------------------------------

/** A block of the prompt on its way out, before calls are paired and cache points are set. */
export interface Piece {
  /** Of calls and results: without the id that pairs them. */
  readonly block: JsonObject;
  /** A cache point is to follow. */
  readonly mark?: Mark;
  readonly call?: ToolCallItem;
  readonly result?: ToolResultItem;
}

/** A cache mark, and where the caller wrote it. */
export interface Mark {
  readonly cache: CacheMark;
  readonly field: string;
}

/** What one side says in a row. */
export interface Turn {
  readonly role: WireRole;
  readonly pieces: readonly Piece[];
}
