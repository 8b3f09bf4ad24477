import type { GenerationRequest } from '../../ir/request.ts';
import type { RenderTarget } from '../dialect.ts';
import { Report } from '../shared/report/report.ts';
import type { FlatNames } from '../shared/tools/tool-names.ts';
import { functionNames } from './ids.ts';
import { type ModelTraits, traitsOf } from './model-traits.ts';

export interface RenderContext {
  readonly request: GenerationRequest;
  readonly target: RenderTarget;
  readonly traits: ModelTraits;
  readonly report: Report;
  /** The upstream's names of the request's tools. */
  readonly names: FlatNames;
}

export function renderContext(request: GenerationRequest, target: RenderTarget): RenderContext {
  return {
    request,
    target,
    traits: traitsOf(target.model),
    report: new Report(request),
    names: functionNames(request),
  };
}
