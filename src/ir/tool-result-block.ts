/** A piece of the result of a tool that no model has called, as the Model Context Protocol has it. */
export type ToolResultBlock =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image' | 'audio';
      /** Base64. */
      readonly data: string;
      readonly mimeType: string;
    };

export function textBlock(text: string): ToolResultBlock {
  return { type: 'text', text };
}
