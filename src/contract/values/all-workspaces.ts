import Type from 'typebox';

/** Member of the queries of lists that are of one workspace otherwise. */
export const allWorkspaces = Type.Boolean({
  description: 'Lists those of every workspace of the account. Not together with `workspace_id`.',
});
