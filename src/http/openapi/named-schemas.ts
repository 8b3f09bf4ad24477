import type { TSchema } from 'typebox';
import { appRankingSchema } from '../../contract/analytics/dataset-app-rankings.ts';
import { modelRankingSchema } from '../../contract/analytics/dataset-rankings-daily.ts';
import { datasetMetaSchema } from '../../contract/analytics/dataset-window.ts';
import { endpointListSchema, endpointSchema } from '../../contract/catalog/endpoint.ts';
import {
  architectureSchema,
  modelCountSchema,
  modelListSchema,
  modelReplySchema,
  modelSchema,
} from '../../contract/catalog/model.ts';
import { pricingSchema } from '../../contract/catalog/pricing.ts';
import { providerListSchema, providerSchema } from '../../contract/catalog/provider.ts';
import { classifierSchema } from '../../contract/classifiers/classifier.ts';
import { classifierRunSchema } from '../../contract/classifiers/run.ts';
import { destinationSchema } from '../../contract/destinations/destination.ts';
import { errorEnvelopeSchema, messagesErrorSchema } from '../../contract/envelopes/error-envelope.ts';
import { healthSchema } from '../../contract/envelopes/health.ts';
import { gatewayProviderSchema } from '../../contract/gateway/gateway-provider.ts';
import {
  chatResultSchema,
  messagesResultSchema,
  responsesResultSchema,
  tokenCountSchema,
} from '../../contract/generations/generation-results.ts';
import { currentKeySchema } from '../../contract/keys/current-key.ts';
import { keySchema } from '../../contract/keys/key.ts';
import { memberSchema } from '../../contract/members/member.ts';
import { budgetSchema } from '../../contract/workspaces/budget.ts';
import { byokCredentialSchema } from '../../contract/workspaces/byok.ts';
import { fileSchema } from '../../contract/workspaces/file.ts';
import { workspaceSchema } from '../../contract/workspaces/workspace.ts';
import {
  cacheControlSchema,
  pluginSchema,
  providerPreferencesSchema,
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
  Classifier: classifierSchema,
  ClassifierRun: classifierRunSchema,
  CurrentKey: currentKeySchema,
  DatasetMeta: datasetMetaSchema,
  Destination: destinationSchema,
  Endpoint: endpointSchema,
  EndpointList: endpointListSchema,
  Error: errorEnvelopeSchema,
  File: fileSchema,
  GatewayProvider: gatewayProviderSchema,
  Health: healthSchema,
  Key: keySchema,
  Member: memberSchema,
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
