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
import type { Route } from '../route.ts';
import { CLASSIFIER_EXAMPLES } from './examples/classifiers.ts';
import {
  callerOf,
  created,
  deletion,
  MANAGEMENT,
  managementRefusals,
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
    example: CLASSIFIER_EXAMPLES.createClassifier,
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
    example: CLASSIFIER_EXAMPLES.listClassifiers,
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
    example: CLASSIFIER_EXAMPLES.getClassifier,
  },
  {
    ...CLASSIFIERS,
    method: 'PATCH',
    path: '/classifiers/{id}',
    operationId: 'updateClassifier',
    summary: 'Change a classifier, switch it on or off',
    example: CLASSIFIER_EXAMPLES.updateClassifier,
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
    example: CLASSIFIER_EXAMPLES.deleteClassifier,
  },
];
