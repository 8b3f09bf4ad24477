import Type from 'typebox';
import { nullable } from '../values/nullable.ts';

/** A provider as `GET /providers` shows it. */
export const providerSchema = Type.Object(
  {
    name: Type.String({ description: 'Display name.' }),
    slug: Type.String(),
    privacy_policy_url: nullable(Type.String()),
    terms_of_service_url: nullable(Type.String()),
    status_page_url: nullable(Type.String()),
    headquarters: nullable(Type.String()),
    datacenters: nullable(Type.Array(Type.String())),
  },
  { description: 'A company or server that runs models.' },
);

/** Reply of `GET /providers`. */
export const providerListSchema = Type.Object({ data: Type.Array(providerSchema) });
