import * as z from 'zod'

/** How many times its random cases a test plays; CI sets it each night. */
export const LENGTH = z.coerce
  .number()
  .int()
  .positive()
  .parse(process.env.LENGTH ?? 1)
