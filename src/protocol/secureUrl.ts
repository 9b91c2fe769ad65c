import * as z from 'zod/mini'

/** Whether a URL's host is this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/.test(hostname)
}

/**
 * The rule for each URL of each program: nobody on the way can read or change what is sent. That is https, or http within this
 * machine. A private network is no exception: anyone who controls one of its machines can read it.
 */
export function isSecureUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

export const secureUrlSchema = z
  .string()
  .check(
    z.refine(
      isSecureUrl,
      'expected an https URL, or an http URL of this machine (127.0.0.1, [::1], localhost)',
    ),
  )
