/** Seals with a letter that the same key alone takes away. */
export function clientOf(key = 'k') {
  return {
    sealForDevice: async (purpose: string, value: unknown) =>
      new TextEncoder().encode(`${key}${purpose}${JSON.stringify(value)}`),
    async openFromDevice(purpose: string, bytes: Uint8Array): Promise<unknown> {
      const text = new TextDecoder().decode(bytes)
      return text.startsWith(key + purpose) ? JSON.parse(text.slice(key.length + purpose.length)) : undefined
    },
  }
}
