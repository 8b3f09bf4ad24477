import Type, { type Static } from 'typebox';

const effort = Type.Object({ effort: Type.String(), description: Type.String() });

/** A model as Codex reads it. Codex drops the whole list if an entry lacks a member that is not optional here. */
const codexModelSchema = Type.Object({
  slug: Type.String({ description: 'The model’s id.' }),
  display_name: Type.String(),
  description: Type.String(),
  default_reasoning_level: Type.Optional(Type.String()),
  supported_reasoning_levels: Type.Array(effort),
  shell_type: Type.String(),
  visibility: Type.String(),
  supported_in_api: Type.Boolean(),
  priority: Type.Integer({ description: 'Place in Codex’s list.' }),
  base_instructions: Type.String({
    description: 'Instructions that Codex gives the model before its own notes.',
  }),
  support_verbosity: Type.Boolean(),
  truncation_policy: Type.Object({ mode: Type.String(), limit: Type.Integer() }),
  context_window: Type.Optional(Type.Integer()),
  input_modalities: Type.Array(Type.String()),
  experimental_supported_tools: Type.Array(Type.String()),
});

export type CodexModel = Static<typeof codexModelSchema>;

/** The models of a list that call tools, as Codex reads them. */
export const codexModelsSchema = Type.Array(codexModelSchema, {
  description: 'Only with `client_version`: the models that call tools, as Codex reads them.',
});
