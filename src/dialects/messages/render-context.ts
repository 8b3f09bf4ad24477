import type { GenerationRequest } from '../../ir/request.ts';
import type { RenderTarget } from '../dialect.ts';
import { Report } from '../shared/report/report.ts';
import { type FlatNames, flatNames } from '../shared/tools/tool-names.ts';
import { CacheMarks } from './cache-marks.ts';

/** What rendering one request needs to know and collects on its way. */
export interface RenderContext {
  readonly request: GenerationRequest;
  readonly target: RenderTarget;
  readonly report: Report;
  /** Of the work on the request's items, their parts and its tools. */
  readonly marks: CacheMarks;
  /** The upstream's names of the request's tools. */
  readonly names: FlatNames;
}

/** The context of a request that nothing was rendered of yet. */
export function renderContext(request: GenerationRequest, target: RenderTarget): RenderContext {
  return {
    request,
    target,
    report: new Report(request),
    marks: new CacheMarks(),
    names: flatNames(request),
  };
}
