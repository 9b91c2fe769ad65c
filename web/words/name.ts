/** Not a printable character of ASCII: the registry takes no other. */
const UNREGISTRABLE = /[^\x20-\x7e]/u

/** Why the registry would refuse the name of an institution; null if it would not, and while the name is empty. */
export function institutionNameFault(name: string): string | null {
  const found = UNREGISTRABLE.exec(name)?.[0]
  if (found === undefined) return null
  return `“${found}” cannot be in the name: use letters without accents, digits, spaces and the punctuation of an English keyboard.`
}
