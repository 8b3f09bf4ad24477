/** Names that cannot end the line which they are written on. */
const EVENT_NAME = /^[!-~]{1,128}$/;

/** True for a type of an event, known or not, that may be written as the name of a frame. */
export function isEventName(type: string): boolean {
  return EVENT_NAME.test(type);
}
