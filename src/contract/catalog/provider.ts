import Type from 'typebox';
import { nullable } from '../values/nullable.ts';

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

export const providerListSchema = Type.Object({ data: Type.Array(providerSchema) });
