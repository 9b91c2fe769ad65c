import { z } from 'zod'

/** How many times the random cases of a push a run plays; CI sets it each night. */
export const LENGTH = z.coerce
  .number()
  .int()
  .positive()
  .parse(process.env.LENGTH ?? 1)
