import { makesVectors, makesVectorsOnly } from '../../catalog/model-kind.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { RoutedModel } from './routed-model.ts';

/**
 * Throws 400 if a request names a model of the wrong kind: one that makes no embeddings where they are asked for, or
 * one that makes nothing else in a conversation. The message says what to use instead.
 */
export function refuseOtherKinds(request: GenerationRequest, models: readonly RoutedModel[]): void {
  const wantsVectors = request.embedding !== undefined;
  for (const { name, model } of models) {
    const isWrong = wantsVectors ? !makesVectors(model) : makesVectorsOnly(model);
    if (isWrong) throw wrongKind(name, wantsVectors);
  }
}

function wrongKind(name: string, wantsVectors: boolean): GatewayError {
  const message = wantsVectors
    ? `${name} makes no embeddings: use it with POST /chat/completions, or choose one of ` +
      'GET /models?output_modalities=embeddings'
    : `${name} makes embeddings: use it with POST /embeddings, or choose one of GET /models`;
  return new GatewayError('invalid-request', message);
}
