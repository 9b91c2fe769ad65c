import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import {
  exceptionsOf,
  type Nameable,
  type RowFault,
  readEmployeeFile,
  rulesOfRows,
} from '../../client/admin.js'
import type { Hex, Policy } from '../../client/index.js'
import { addressSchema } from '../../protocol/address.js'
import { policySchema } from '../../protocol/policy.js'
import { parseStrictJson } from '../../protocol/strictJson.js'
import { usage } from '../../terminal/failure.js'

/** Accepts addresses in any case, as people copy them; a wrong checksum is an error. */
const filedPolicySchema = z.strictObject({
  ...policySchema.shape,
  employees: z
    .record(
      z.string().refine((key) => addressSchema.safeParse(key).success, 'expected an address'),
      policySchema.shape.employees.def.valueType,
    )
    .refine(
      (employees) =>
        new Set(Object.keys(employees).map((key) => key.toLowerCase())).size ===
        Object.keys(employees).length,
      'an employee is listed twice',
    ),
})

/**
 * The rulebook of a JSON file, its addresses in lower case. Refuses repeated JSON members: of two rules for one employee, one would be
 * dropped silently.
 * @throws CommandError `usage`
 */
export async function readPolicy(file: string): Promise<Policy> {
  const policy = filedPolicySchema.safeParse(await readJson(file))
  if (policy.success) {
    const lowered = Object.entries(policy.data.employees).map(
      ([key, rule]) => [key.toLowerCase(), rule] as const,
    )
    return { ...policy.data, employees: Object.fromEntries(lowered) }
  }
  const faults = policy.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'the rulebook'}: ${message}`,
  )
  throw usage(faults.join('; '))
}

/** @throws CommandError `usage` */
export async function readJson(file: string): Promise<unknown> {
  const text = await readText(file)
  try {
    return parseStrictJson(text)
  } catch (error) {
    throw usage(`${file}: ${error instanceof Error ? error.message : 'is not JSON'}`)
  }
}

function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => {
    throw usage(`the file ${file} cannot be read`)
  })
}

/** As many bad lines as fit a screen. */
const MOST_FAULTS = 20

/**
 * The rulebook with the employees of a CSV file in place of its own, but for those who have the default anyway, and their names.
 * @throws CommandError `usage` with every bad line
 */
export async function withEmployees(
  policy: Policy,
  file: string,
  symbols: Nameable['symbols'],
): Promise<{ readonly policy: Policy; readonly names: ReadonlyMap<Hex, string> }> {
  const groups = Object.keys(policy.groups ?? {})
  const { rows, faults } = await readEmployeeFile(await readText(file), { symbols, groups })
  if (faults.length > 0) throw usage(`${file} has bad lines: nothing was published`, faultLines(faults))
  return {
    policy: exceptionsOf({ ...policy, employees: rulesOfRows(rows, policy) }),
    names: new Map(
      rows.flatMap(({ address, name }) => (name === undefined ? [] : [[address, name] as const])),
    ),
  }
}

function faultLines(faults: readonly RowFault[]): string[] {
  const shown = faults.slice(0, MOST_FAULTS)
  const lines = shown.map(({ line, reason }) => (line === null ? reason : `line ${line}: ${reason}`))
  const more = faults.length - shown.length
  return more === 0 ? lines : [...lines, `and ${more} more`]
}
