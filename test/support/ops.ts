import { z } from 'zod'
import { REASONS } from '../../src/server/ops/reasons.js'

const [reason, ...reasons] = Object.keys(REASONS)
const reasonSchema = z.enum([reason ?? '', ...reasons])
const statusSchema = z.enum(['healthy', 'degraded', 'unhealthy'])
const reportSchema = z.strictObject({
  status: statusSchema,
  checks: z.record(z.string(), z.strictObject({ status: statusSchema, reason: reasonSchema.nullable() })),
})

/** What `/readyz` answers, and the reasons of the checks that are not healthy. */
export async function readinessOf(opsUrl: string) {
  const response = await fetch(`${opsUrl}/readyz`)
  const { status, checks } = reportSchema.parse(await response.json())
  const faults = Object.entries(checks).flatMap(([name, { reason }]) =>
    reason === null ? [] : [[name, reason] as const],
  )
  return { code: response.status, status, checks: Object.keys(checks), faults: Object.fromEntries(faults) }
}
