import {
  connectionTestSchema,
  createDestinationSchema,
  destinationListSchema,
  destinationReplySchema,
  destinationsQuerySchema,
  updateDestinationSchema,
} from '../contract/destinations/destination.ts';
import { connectionTestObject, destinationObject } from '../contract/destinations/destination-object.ts';
import { destinationTypes, destinationTypesSchema } from '../contract/destinations/destination-type.ts';
import { deletedSchema } from '../contract/envelopes/deleted.ts';
import { type AnyEndpoint, endpoint } from './endpoint.ts';
import { DELETED, MANAGEMENT, uuidPlaceOf } from './endpoint-parts.ts';

const DESTINATIONS = { ...MANAGEMENT, tag: 'Observability' } as const;

/** Where generations of workspaces are sent. */
export const DESTINATION_ENDPOINTS: readonly AnyEndpoint[] = [
  endpoint({
    ...DESTINATIONS,
    method: 'POST',
    path: '/observability/destinations',
    operationId: 'createDestination',
    summary: 'Send the generations of a workspace to a destination from now on',
    permission: 'destinations.change',
    body: createDestinationSchema,
    furtherIssues: (valid, { destinations }) => destinations.issuesOf(valid),
    reply: destinationReplySchema,
    status: 201,
    refusals: [404, 409],
    run: async (call) => {
      const { accountId } = call.caller;
      const destination = await call.services.destinations.create(accountId, call.body);
      return { data: destinationObject(destination) };
    },
  }),
  endpoint({
    ...DESTINATIONS,
    method: 'GET',
    path: '/observability/destinations',
    operationId: 'listDestinations',
    summary: 'Destinations of a workspace, or of all, the oldest first',
    permission: 'destinations.read',
    query: destinationsQuerySchema,
    reply: destinationListSchema,
    refusals: [404],
    run: async (call) => {
      const { destinations, total } = await call.services.destinations.list(
        call.caller.accountId,
        call.query,
      );
      return { data: destinations.map(destinationObject), total_count: total };
    },
  }),
  endpoint({
    ...DESTINATIONS,
    method: 'GET',
    path: '/observability/destinations/{id}',
    operationId: 'getDestination',
    summary: 'One destination',
    permission: 'destinations.read',
    reply: destinationReplySchema,
    refusals: [404],
    run: async (call) => ({
      data: destinationObject(await call.services.destinations.get(...uuidPlaceOf(call))),
    }),
  }),
  endpoint({
    ...DESTINATIONS,
    method: 'PATCH',
    path: '/observability/destinations/{id}',
    operationId: 'updateDestination',
    summary: 'Change a destination',
    permission: 'destinations.change',
    body: updateDestinationSchema,
    reply: destinationReplySchema,
    refusals: [404, 409],
    run: async (call) => {
      const destination = await call.services.destinations.update(...uuidPlaceOf(call), call.body);
      return { data: destinationObject(destination) };
    },
  }),
  endpoint({
    ...DESTINATIONS,
    method: 'POST',
    path: '/observability/destinations/{id}/test',
    operationId: 'testDestination',
    summary: 'Try the connection to a destination, without a generation',
    permission: 'destinations.try',
    reply: connectionTestSchema,
    refusals: [404, 409],
    run: async (call) => {
      const outcome = await call.services.destinations.test(...uuidPlaceOf(call));
      return { data: connectionTestObject(outcome) };
    },
  }),
  endpoint({
    ...DESTINATIONS,
    method: 'DELETE',
    path: '/observability/destinations/{id}',
    operationId: 'deleteDestination',
    summary: 'Delete a destination and wipe its secrets',
    permission: 'destinations.change',
    reply: deletedSchema,
    refusals: [404, 409],
    run: async (call) => {
      await call.services.destinations.delete(...uuidPlaceOf(call));
      return DELETED;
    },
  }),
  endpoint({
    ...DESTINATIONS,
    method: 'GET',
    path: '/observability/destination-types',
    operationId: 'listDestinationTypes',
    summary: 'What destinations can be made of: their types, and what rules may name',
    permission: 'destinations.read',
    reply: destinationTypesSchema,
    run: () => destinationTypes(),
  }),
];
