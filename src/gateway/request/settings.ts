import type { OcrSettings, ServiceSettings } from '../../stages/stage.ts';
import type { ToolSettings } from '../../tools/server-tool.ts';

/** Endpoints that are called for one model, and calls for the whole request. */
export interface AttemptLimits {
  readonly perModel: number;
  readonly perRequest: number;
  /**
   * Calls beyond the first of a leg, shared and counted down by all legs of a generation; absent = there is one leg.
   */
  readonly retries?: { left: number };
}

/** Settings of the gateway at one moment; a reload replaces them between requests, never inside one. */
export interface GatewaySettings extends ToolSettings {
  readonly region: string | null;
  /** Patterns of the models that the auto router chooses from; undefined = all. */
  readonly autoModels: readonly string[] | undefined;
  readonly attempts: AttemptLimits;
  /** Share of the list price that is charged for generations with a BYOK credential. */
  readonly byokFee: number;
  /** Milliseconds between checkpoints of a stream. */
  readonly checkpointMs: number;
  /** Bytes of all stored files that a request names, and likewise of its output items. */
  readonly maxFileBytes: number;
  /** Bytes of memory for stored files and output items, for all requests together. */
  readonly contentRoomBytes: number;
  /** Upstreams and services get the trace that a generation belongs to. */
  readonly propagatesTrace: boolean;
  readonly moderation: ServiceSettings | undefined;
  readonly ocr: OcrSettings | undefined;
}
