import {
  type ClassifiersQuery,
  type CreateClassifier,
  classifierListSchema,
  classifierReplySchema,
  classifiersQuerySchema,
  createClassifierSchema,
  type UpdateClassifier,
  updateClassifierSchema,
} from '../../contract/classifiers/classifier.ts';
import { classifierObject } from '../../contract/classifiers/classifier-object.ts';
import {
  type RunsQuery,
  runListSchema,
  runObject,
  runReplySchema,
  runsQuerySchema,
  type StartRun,
  startRunSchema,
} from '../../contract/classifiers/run.ts';
import {
  classifierTrialSchema,
  type TestClassifier,
  testClassifierSchema,
} from '../../contract/classifiers/trial.ts';
import type { Call, Route } from '../route.ts';
import {
  callerOf,
  created,
  deletion,
  MANAGEMENT,
  managementRefusals,
  NOTHING_DECLARED,
  ok,
  retrieval,
  uuidPlaceOf,
  withBody,
  withQuery,
} from './row-parts.ts';

const CLASSIFIERS = { ...MANAGEMENT, tag: 'Classifiers' } as const;

/** What tags the generations of workspaces. */
export const CLASSIFIER_ROUTES: readonly Route[] = [
  {
    ...CLASSIFIERS,
    method: 'POST',
    path: '/classifiers',
    operationId: 'createClassifier',
    summary: 'Classify the generations of a workspace from now on',
    request: {
      ...withBody(createClassifierSchema),
      furtherIssues: (valid, { classifiers }) => classifiers.issuesOf(valid),
    },
    responses: {
      201: created(classifierReplySchema),
      ...managementRefusals(400, 404, 409, 413, 415, 503),
    },
    handler: async (call) => {
      const { accountId } = callerOf(call);
      const shown = await call.services.classifiers.create(accountId, call.body as CreateClassifier);
      call.exchange.reply.json(201, { data: classifierObject(shown) });
    },
  },
  {
    ...CLASSIFIERS,
    method: 'GET',
    path: '/classifiers',
    operationId: 'listClassifiers',
    summary: 'Classifiers of a workspace, or of all, the oldest first',
    request: withQuery(classifiersQuerySchema),
    responses: { 200: ok(classifierListSchema), ...managementRefusals(400, 404, 503) },
    handler: async (call) => {
      const { classifiers, total } = await call.services.classifiers.list(
        callerOf(call).accountId,
        call.query as ClassifiersQuery,
      );
      call.exchange.reply.json(200, { data: classifiers.map(classifierObject), total_count: total });
    },
  },
  {
    ...CLASSIFIERS,
    ...retrieval(
      classifierReplySchema,
      async (call) => classifierObject(await call.services.classifiers.show(...uuidPlaceOf(call))),
      404,
      503,
    ),
    path: '/classifiers/{id}',
    operationId: 'getClassifier',
    summary: 'One classifier',
  },
  {
    ...CLASSIFIERS,
    method: 'PATCH',
    path: '/classifiers/{id}',
    operationId: 'updateClassifier',
    summary: 'Change a classifier, switch it on or off',
    request: {
      ...withBody(updateClassifierSchema),
      furtherIssues: (valid, { classifiers }) => classifiers.issuesOf(valid),
    },
    responses: { 200: ok(classifierReplySchema), ...managementRefusals(400, 404, 409, 413, 415, 503) },
    handler: async (call) => {
      const wanted = call.body as UpdateClassifier;
      const shown = await call.services.classifiers.update(...uuidPlaceOf(call), wanted);
      call.exchange.reply.json(200, { data: classifierObject(shown) });
    },
  },
  {
    ...CLASSIFIERS,
    ...deletion((call) => call.services.classifiers.delete(...uuidPlaceOf(call)), 404, 409),
    path: '/classifiers/{id}',
    operationId: 'deleteClassifier',
    summary: 'Delete a classifier; analytics can no longer name its tags',
  },
  {
    ...CLASSIFIERS,
    method: 'POST',
    path: '/classifiers/{id}/test',
    operationId: 'testClassifier',
    summary: 'What a classifier says of a text or of a generation; no tags are kept',
    request: withBody(testClassifierSchema),
    responses: { 200: ok(classifierTrialSchema), ...managementRefusals(400, 404, 409, 413, 415) },
    handler: async (call) => {
      const wanted = call.body as TestClassifier;
      const { classifierTrials } = call.services;
      const trial = await classifierTrials.test(...uuidPlaceOf(call), wanted, call.exchange.signal);
      call.exchange.reply.json(200, { data: trial });
    },
  },
  {
    ...CLASSIFIERS,
    method: 'POST',
    path: '/classifiers/{id}/runs',
    operationId: 'startClassifierRun',
    summary: 'Classify generations of the past whose prompts and answers are kept',
    request: withBody(startRunSchema),
    responses: { 201: created(runReplySchema), ...managementRefusals(400, 404, 409, 413, 415) },
    handler: async (call) => {
      const run = await call.services.classifierRuns.start(...uuidPlaceOf(call), call.body as StartRun);
      call.exchange.reply.json(201, { data: runObject(run) });
    },
  },
  {
    ...CLASSIFIERS,
    method: 'GET',
    path: '/classifiers/{id}/runs',
    operationId: 'listClassifierRuns',
    summary: 'Runs of a classifier, the newest first',
    request: withQuery(runsQuerySchema),
    responses: { 200: ok(runListSchema), ...managementRefusals(400, 404) },
    handler: async (call) => {
      const { runs, total } = await call.services.classifierRuns.list(
        ...uuidPlaceOf(call),
        call.query as RunsQuery,
      );
      call.exchange.reply.json(200, { data: runs.map(runObject), total_count: total });
    },
  },
  {
    ...CLASSIFIERS,
    ...retrieval(
      runReplySchema,
      async (call) => runObject(await call.services.classifierRuns.get(...runPlaceOf(call))),
      404,
    ),
    path: '/classifiers/{id}/runs/{run_id}',
    operationId: 'getClassifierRun',
    summary: 'How far a run has come',
  },
  {
    ...CLASSIFIERS,
    method: 'POST',
    path: '/classifiers/{id}/runs/{run_id}/stop',
    operationId: 'stopClassifierRun',
    summary: 'Stop a run; what it has classified stays',
    request: NOTHING_DECLARED,
    responses: { 200: ok(runReplySchema), ...managementRefusals(404) },
    handler: async (call) => {
      const run = await call.services.classifierRuns.stop(...runPlaceOf(call));
      call.exchange.reply.json(200, { data: runObject(run) });
    },
  },
];

function runPlaceOf(call: Call): [accountId: string, classifierId: string, id: string] {
  return [...uuidPlaceOf(call), (call.params.run_id ?? '').toLowerCase()];
}
