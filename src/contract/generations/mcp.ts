import Type from 'typebox';

const id = Type.Union([Type.String(), Type.Integer()]);
const open = Type.Object({});

/** Body of `POST /mcp`: a request, a notification, or a reply of the client. */
export const mcpMessageSchema = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(id),
    method: Type.Optional(
      Type.String({ description: '`initialize`, `ping`, `tools/list`, `tools/call`, or a notification.' }),
    ),
    params: Type.Optional(open),
    result: Type.Optional(open),
    error: Type.Optional(open),
  },
  { description: 'A message of JSON-RPC 2.0, as the Model Context Protocol defines it.' },
);

export const mcpReplySchema = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Union([id, Type.Null()]),
    result: Type.Optional(open),
    error: Type.Optional(
      Type.Object({
        code: Type.Integer(),
        message: Type.String(),
        data: Type.Optional(
          Type.Object(
            { code: Type.Integer() },
            { description: 'Of a refused call: the status that a generation would have had.' },
          ),
        ),
      }),
    ),
  },
  { description: 'The result of a request, or its error.' },
);
