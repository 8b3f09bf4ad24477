import type { ParseContext } from '../../dialects/dialect.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import { Report } from '../../dialects/shared/report/report.ts';
import type { RequestFormat } from '../../ir/items.ts';
import { NO_ENTRIES, type TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { andThen } from '../../kit/loop/and-then.ts';
import { inTurn } from '../../kit/loop/turns.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { OutputItems } from '../../ports/shared/output-items.ts';
import { Prompt } from '../../tokens/prompt.ts';
import { depthHeaders } from '../../tools/fusion/fusion-depth.ts';
import type { ContentShare } from './content-room.ts';
import type { GenerationInput } from './generation-input.ts';
import { withReferencedItems, withStandIns } from './item-references.ts';
import { withOnlineVariant } from './online-variant.ts';
import { parseBody } from './parse-body.ts';
import type { GatewaySettings } from './settings.ts';
import { type StoredFiles, withStoredFiles } from './stored-files.ts';
import { refuseFusion, refuseUnavailable } from './unavailable.ts';
import { undocumentedMembers } from './undocumented-members.ts';
import { withDefaultModel, withDefaultSort } from './workspace-defaults.ts';

export interface AcceptDependencies {
  /** Changes a body before it is parsed: fills in presets and prompt templates. */
  readonly prepareBody: (format: RequestFormat, body: GenerationInput['body']) => PreparedBody;
  readonly files: StoredFiles;
  readonly items: OutputItems;
  readonly clock: Clock;
}

/** A body with its presets and templates filled in, and a report on those that could not be. */
export interface PreparedBody {
  readonly body: GenerationInput['body'];
  readonly report: readonly TranslationEntry[];
}

/** A parsed request, and what was lost in parsing. */
export interface AcceptedRequest {
  readonly request: GenerationRequest;
  readonly prompt: Prompt;
  readonly report: readonly TranslationEntry[];
}

export interface ContentBounds {
  readonly content: ContentShare;
  /** The largest prompt of any endpoint that may serve the request. `parse` returns the request without its files. */
  readonly maxPromptTokens: (parse: () => Promise<GenerationRequest>) => Promise<number>;
}

/**
 * Fills in presets and defaults, then the output items and files that the body names, and parses it. Throws a
 * GatewayError for invalid members and for features that are not offered.
 */
export function acceptRequest(
  input: GenerationInput,
  settings: GatewaySettings,
  { content, maxPromptTokens }: ContentBounds,
  dependencies: AcceptDependencies,
): AcceptedRequest | Promise<AcceptedRequest> {
  const { itemReferences, fileParts } = DIALECTS[input.format].inbound;
  const { caller, signal } = input;
  const { maxFileBytes, contentRoomBytes } = settings;
  const takeRoom = (bytes: number) => content.take(bytes, contentRoomBytes);
  const prepared = preparedBody(input, dependencies);
  const finding = withReferencedItems(prepared.body, itemReferences, dependencies.items, () => ({
    keyHash: caller.key.hash,
    maxCharacters: maxFileBytes,
    takeRoom,
  }));
  const filling = andThen(finding, (withItems) =>
    withStoredFiles(withItems, fileParts, dependencies.files, () => ({
      workspaceId: caller.workspaceId,
      maxBytes: maxFileBytes,
      maxPromptTokens: () => maxPromptTokens(async () => parsed(withItems, input, settings, dependencies)),
      takeRoom,
      signal,
    })),
  );
  return andThen(filling, (withFiles) =>
    andThen(parsed(withFiles.body, input, settings, dependencies), (read) => {
      const undocumented = input.wantsMetadata ? undocumentedMembers(input, settings) : [];
      const request = undocumented.length === 0 ? read : { ...read, undocumented };
      const report = [...ignoredParameters(input, request), ...prepared.report, ...withFiles.report];
      return { request, prompt: new Prompt(request), report };
    }),
  );
}

function ignoredParameters(
  { unknownParameters }: GenerationInput,
  request: GenerationRequest,
): readonly TranslationEntry[] {
  if (unknownParameters === undefined) return NO_ENTRIES;
  const report = new Report(request);
  for (const name of unknownParameters) report.ignored(`?${name}`, 'not a known query parameter');
  return report.entries;
}

/** The settings of a request without the items and files that it names, for a reply that repeats only settings. */
export function settingsOfRequest(
  input: GenerationInput,
  settings: GatewaySettings,
  dependencies: AcceptDependencies,
): GenerationRequest {
  const dialect = DIALECTS[input.format].inbound;
  const body = withStandIns(preparedBody(input, dependencies).body, dialect.itemReferences);
  return offered(parseBody(body, dialect, contextOf(input, settings)), input, settings);
}

function preparedBody(
  { format, body, caller }: GenerationInput,
  dependencies: AcceptDependencies,
): PreparedBody {
  return dependencies.prepareBody(format, withDefaultModel(body, caller.workspace));
}

function parsed(
  body: GenerationInput['body'],
  input: GenerationInput,
  settings: GatewaySettings,
  dependencies: AcceptDependencies,
): GenerationRequest | Promise<GenerationRequest> {
  const { inbound } = DIALECTS[input.format];
  const reading = inTurn(dependencies.clock, () => parseBody(body, inbound, contextOf(input, settings)));
  return andThen(reading, (request) => offered(request, input, settings));
}

function contextOf(
  { exactNumbers, betas, apiVersion }: GenerationInput,
  { vendor }: GatewaySettings,
): ParseContext {
  return { vendor, exactNumbers, betas, apiVersion };
}

/** The request with the defaults of its workspace; throws if it asks for a feature that the gateway does not offer. */
function offered(
  request: GenerationRequest,
  { caller, isInsideFusion }: GenerationInput,
  settings: GatewaySettings,
): GenerationRequest {
  refuseUnavailable(request, settings.vendor, settings);
  if (isInsideFusion === true) refuseFusion(request, settings.vendor);
  const asked = withDefaultSort(withOnlineVariant(request, settings.catalog), caller.workspace);
  // The upstream may be a gateway too.
  return isInsideFusion === true ? { ...asked, upstreamHeaders: depthHeaders(settings.vendor) } : asked;
}
