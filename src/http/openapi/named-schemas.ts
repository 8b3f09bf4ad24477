import type { TSchema } from 'typebox';
import { budgetSchema } from '../../contract/budget.ts';
import { byokCredentialSchema } from '../../contract/byok.ts';
import { currentKeySchema } from '../../contract/current-key.ts';
import { appRankingSchema } from '../../contract/dataset-app-rankings.ts';
import { modelRankingSchema } from '../../contract/dataset-rankings-daily.ts';
import { datasetMetaSchema } from '../../contract/dataset-window.ts';
import { endpointListSchema, endpointSchema } from '../../contract/endpoint.ts';
import { errorEnvelopeSchema, messagesErrorSchema } from '../../contract/error-envelope.ts';
import { fileSchema } from '../../contract/file.ts';
import {
  chatResultSchema,
  messagesResultSchema,
  responsesResultSchema,
  tokenCountSchema,
} from '../../contract/generation-results.ts';
import { healthSchema } from '../../contract/health.ts';
import { keySchema } from '../../contract/key.ts';
import {
  architectureSchema,
  modelCountSchema,
  modelListSchema,
  modelReplySchema,
  modelSchema,
} from '../../contract/model.ts';
import { pricingSchema } from '../../contract/pricing.ts';
import { providerListSchema, providerSchema } from '../../contract/provider.ts';
import { workspaceSchema } from '../../contract/workspace.ts';
import {
  cacheControlSchema,
  pluginSchema,
  providerSchema as providerPreferencesSchema,
  stopConditionSchema,
} from '../../dialects/shared/requests/gateway-fields.ts';

/** Schemas that the interface description names; everything else is written out where it is used. */
export const NAMED_SCHEMAS: Readonly<Record<string, TSchema>> = {
  AppRanking: appRankingSchema,
  Architecture: architectureSchema,
  Budget: budgetSchema,
  ByokCredential: byokCredentialSchema,
  CacheControl: cacheControlSchema,
  ChatCompletion: chatResultSchema,
  CurrentKey: currentKeySchema,
  DatasetMeta: datasetMetaSchema,
  Endpoint: endpointSchema,
  EndpointList: endpointListSchema,
  Error: errorEnvelopeSchema,
  File: fileSchema,
  Health: healthSchema,
  Key: keySchema,
  Message: messagesResultSchema,
  MessagesError: messagesErrorSchema,
  Model: modelSchema,
  ModelCount: modelCountSchema,
  ModelList: modelListSchema,
  ModelRanking: modelRankingSchema,
  ModelReply: modelReplySchema,
  Plugin: pluginSchema,
  Pricing: pricingSchema,
  Provider: providerSchema,
  ProviderList: providerListSchema,
  ProviderPreferences: providerPreferencesSchema,
  Response: responsesResultSchema,
  StopCondition: stopConditionSchema,
  TokenCount: tokenCountSchema,
  Workspace: workspaceSchema,
};
