import {
  type CreateDestination,
  connectionTestSchema,
  createDestinationSchema,
  type DestinationsQuery,
  destinationListSchema,
  destinationReplySchema,
  destinationsQuerySchema,
  type UpdateDestination,
  updateDestinationSchema,
} from '../../contract/destinations/destination.ts';
import { connectionTestObject, destinationObject } from '../../contract/destinations/destination-object.ts';
import { destinationTypes, destinationTypesSchema } from '../../contract/destinations/destination-type.ts';
import type { Route } from '../route.ts';
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

const DESTINATIONS = { ...MANAGEMENT, tag: 'Observability' } as const;

/** Where generations of workspaces are sent. */
export const DESTINATION_ROUTES: readonly Route[] = [
  {
    ...DESTINATIONS,
    method: 'POST',
    path: '/observability/destinations',
    operationId: 'createDestination',
    summary: 'Send the generations of a workspace to a destination from now on',
    request: {
      ...withBody(createDestinationSchema),
      furtherIssues: (valid, { destinations }) => destinations.issuesOf(valid),
    },
    responses: { 201: created(destinationReplySchema), ...managementRefusals(400, 404, 409, 413, 415) },
    handler: async (call) => {
      const { accountId } = callerOf(call);
      const destination = await call.services.destinations.create(accountId, call.body as CreateDestination);
      call.exchange.reply.json(201, { data: destinationObject(destination) });
    },
  },
  {
    ...DESTINATIONS,
    method: 'GET',
    path: '/observability/destinations',
    operationId: 'listDestinations',
    summary: 'Destinations of a workspace, or of all, the oldest first',
    request: withQuery(destinationsQuerySchema),
    responses: { 200: ok(destinationListSchema), ...managementRefusals(400, 404) },
    handler: async (call) => {
      const { destinations, total } = await call.services.destinations.list(
        callerOf(call).accountId,
        call.query as DestinationsQuery,
      );
      call.exchange.reply.json(200, { data: destinations.map(destinationObject), total_count: total });
    },
  },
  {
    ...DESTINATIONS,
    ...retrieval(
      destinationReplySchema,
      async (call) => destinationObject(await call.services.destinations.get(...uuidPlaceOf(call))),
      404,
    ),
    path: '/observability/destinations/{id}',
    operationId: 'getDestination',
    summary: 'One destination',
  },
  {
    ...DESTINATIONS,
    method: 'PATCH',
    path: '/observability/destinations/{id}',
    operationId: 'updateDestination',
    summary: 'Change a destination',
    request: withBody(updateDestinationSchema),
    responses: { 200: ok(destinationReplySchema), ...managementRefusals(400, 404, 409, 413, 415) },
    handler: async (call) => {
      const wanted = call.body as UpdateDestination;
      const destination = await call.services.destinations.update(...uuidPlaceOf(call), wanted);
      call.exchange.reply.json(200, { data: destinationObject(destination) });
    },
  },
  {
    ...DESTINATIONS,
    method: 'POST',
    path: '/observability/destinations/{id}/test',
    operationId: 'testDestination',
    summary: 'Try the connection to a destination, without a generation',
    request: NOTHING_DECLARED,
    responses: { 200: ok(connectionTestSchema), ...managementRefusals(404, 409) },
    handler: async (call) => {
      const outcome = await call.services.destinations.test(...uuidPlaceOf(call));
      call.exchange.reply.json(200, { data: connectionTestObject(outcome) });
    },
  },
  {
    ...DESTINATIONS,
    ...deletion((call) => call.services.destinations.delete(...uuidPlaceOf(call)), 404, 409),
    path: '/observability/destinations/{id}',
    operationId: 'deleteDestination',
    summary: 'Delete a destination and wipe its secrets',
  },
  {
    ...DESTINATIONS,
    method: 'GET',
    path: '/observability/destination-types',
    operationId: 'listDestinationTypes',
    summary: 'What destinations can be made of: their types, and what rules may name',
    request: NOTHING_DECLARED,
    responses: { 200: ok(destinationTypesSchema), ...managementRefusals() },
    handler: (call) => call.exchange.reply.json(200, destinationTypes()),
  },
];
