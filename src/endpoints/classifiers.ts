import {
  classifierListSchema,
  classifierReplySchema,
  classifiersQuerySchema,
  createClassifierSchema,
  updateClassifierSchema,
} from '../contract/classifiers/classifier.ts';
import { classifierObject } from '../contract/classifiers/classifier-object.ts';
import {
  runListSchema,
  runObject,
  runReplySchema,
  runsQuerySchema,
  startRunSchema,
} from '../contract/classifiers/run.ts';
import { classifierTrialSchema, testClassifierSchema } from '../contract/classifiers/trial.ts';
import { deletedSchema } from '../contract/envelopes/deleted.ts';
import type { Caller } from '../ports/tenancy/caller.ts';
import { type AnyEndpoint, endpoint } from './endpoint.ts';
import { DELETED, MANAGEMENT, uuidPlaceOf } from './endpoint-parts.ts';

const CLASSIFIERS = { ...MANAGEMENT, tag: 'Classifiers' } as const;

/** What tags the generations of workspaces. */
export const CLASSIFIER_ENDPOINTS: readonly AnyEndpoint[] = [
  endpoint({
    ...CLASSIFIERS,
    method: 'POST',
    path: '/classifiers',
    operationId: 'createClassifier',
    summary: 'Classify the generations of a workspace from now on',
    permission: 'classifiers.change',
    body: createClassifierSchema,
    furtherIssues: (valid, { classifiers }) => classifiers.issuesOf(valid),
    reply: classifierReplySchema,
    status: 201,
    refusals: [404, 409, 503],
    run: async (call) => {
      const { accountId } = call.caller;
      const shown = await call.services.classifiers.create(accountId, call.body);
      return { data: classifierObject(shown) };
    },
  }),
  endpoint({
    ...CLASSIFIERS,
    method: 'GET',
    path: '/classifiers',
    operationId: 'listClassifiers',
    summary: 'Classifiers of a workspace, or of all, the oldest first',
    permission: 'classifiers.read',
    query: classifiersQuerySchema,
    reply: classifierListSchema,
    refusals: [404, 503],
    run: async (call) => {
      const { classifiers, total } = await call.services.classifiers.list(call.caller.accountId, call.query);
      return { data: classifiers.map(classifierObject), total_count: total };
    },
  }),
  endpoint({
    ...CLASSIFIERS,
    method: 'GET',
    path: '/classifiers/{id}',
    operationId: 'getClassifier',
    summary: 'One classifier',
    permission: 'classifiers.read',
    reply: classifierReplySchema,
    refusals: [404, 503],
    run: async (call) => ({
      data: classifierObject(await call.services.classifiers.show(...uuidPlaceOf(call))),
    }),
  }),
  endpoint({
    ...CLASSIFIERS,
    method: 'PATCH',
    path: '/classifiers/{id}',
    operationId: 'updateClassifier',
    summary: 'Change a classifier, switch it on or off',
    permission: 'classifiers.change',
    body: updateClassifierSchema,
    furtherIssues: (valid, { classifiers }) => classifiers.issuesOf(valid),
    reply: classifierReplySchema,
    refusals: [404, 409, 503],
    run: async (call) => {
      const shown = await call.services.classifiers.update(...uuidPlaceOf(call), call.body);
      return { data: classifierObject(shown) };
    },
  }),
  endpoint({
    ...CLASSIFIERS,
    method: 'DELETE',
    path: '/classifiers/{id}',
    operationId: 'deleteClassifier',
    summary: 'Delete a classifier; analytics can no longer name its tags',
    permission: 'classifiers.change',
    reply: deletedSchema,
    refusals: [404, 409],
    run: async (call) => {
      await call.services.classifiers.delete(...uuidPlaceOf(call));
      return DELETED;
    },
  }),
  endpoint({
    ...CLASSIFIERS,
    method: 'POST',
    path: '/classifiers/{id}/test',
    operationId: 'testClassifier',
    summary: 'What a classifier says of a text or of a generation; no tags are kept',
    permission: 'classifiers.try',
    body: testClassifierSchema,
    reply: classifierTrialSchema,
    refusals: [404, 409],
    run: async (call) => {
      const { classifierTrials } = call.services;
      const trial = await classifierTrials.test(...uuidPlaceOf(call), call.body, call.signal);
      return { data: trial };
    },
  }),
  endpoint({
    ...CLASSIFIERS,
    method: 'POST',
    path: '/classifiers/{id}/runs',
    operationId: 'startClassifierRun',
    summary: 'Classify generations of the past whose prompts and answers are kept',
    permission: 'classifiers.run',
    body: startRunSchema,
    reply: runReplySchema,
    status: 201,
    refusals: [404, 409],
    run: async (call) => {
      const run = await call.services.classifierRuns.start(...uuidPlaceOf(call), call.body);
      return { data: runObject(run) };
    },
  }),
  endpoint({
    ...CLASSIFIERS,
    method: 'GET',
    path: '/classifiers/{id}/runs',
    operationId: 'listClassifierRuns',
    summary: 'Runs of a classifier, the newest first',
    permission: 'classifiers.read',
    query: runsQuerySchema,
    reply: runListSchema,
    refusals: [404],
    run: async (call) => {
      const { runs, total } = await call.services.classifierRuns.list(...uuidPlaceOf(call), call.query);
      return { data: runs.map(runObject), total_count: total };
    },
  }),
  endpoint({
    ...CLASSIFIERS,
    method: 'GET',
    path: '/classifiers/{id}/runs/{run_id}',
    operationId: 'getClassifierRun',
    summary: 'How far a run has come',
    permission: 'classifiers.read',
    reply: runReplySchema,
    refusals: [404],
    run: async (call) => ({ data: runObject(await call.services.classifierRuns.get(...runPlaceOf(call))) }),
  }),
  endpoint({
    ...CLASSIFIERS,
    method: 'POST',
    path: '/classifiers/{id}/runs/{run_id}/stop',
    operationId: 'stopClassifierRun',
    summary: 'Stop a run; what it has classified stays',
    permission: 'classifiers.run',
    reply: runReplySchema,
    refusals: [404],
    run: async (call) => {
      const run = await call.services.classifierRuns.stop(...runPlaceOf(call));
      return { data: runObject(run) };
    },
  }),
];

function runPlaceOf(call: RunCall): [accountId: string, classifierId: string, id: string] {
  return [...uuidPlaceOf(call), call.params.run_id.toLowerCase()];
}

interface RunCall {
  readonly caller: Caller;
  readonly params: { readonly id: string; readonly run_id: string };
}
