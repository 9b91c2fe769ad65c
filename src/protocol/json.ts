/** Undefined where the text is not JSON. As JSON.parse has it: for answers, and not for what is signed or stored. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
