import type { GenerationRequest } from '../ir/request.ts';
import type { ActiveStages } from '../stages/stage.ts';
import type { ContentShare } from './content-room.ts';
import type { Prompt } from './estimate.ts';
import type { GenerationInput } from './generation.ts';
import type { Journey } from './journey.ts';
import type { GatewaySnapshot } from './snapshot.ts';

/** One request on its way: everything that is known of it from planning on. */
export interface Underway {
  readonly input: GenerationInput;
  readonly snapshot: GatewaySnapshot;
  readonly request: GenerationRequest;
  readonly prompt: Prompt;
  readonly journey: Journey;
  readonly stages: ActiveStages;
  /** Only the relay lane can carry it. */
  readonly mustRelay: boolean;
  /** Room for the files and items that it names. */
  readonly content: ContentShare;
}
