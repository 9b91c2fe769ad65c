import { access, writeFile } from 'node:fs/promises'
import { Option } from 'commander'
import * as z from 'zod'
import {
  type Period,
  periodOf,
  type Statement,
  type StatementFormat,
  statementFile,
  statementOf,
} from '../../client/history.js'
import { parsedBy } from '../../terminal/arguments.js'
import { usage } from '../../terminal/failure.js'
import { fields } from '../../terminal/render.js'
import type { AddCommand } from '../context.js'
import { withWallet } from '../input/connection.js'
import { addWalletCommand, type WalletOptions } from '../input/options.js'
import { readHistory, timeOf, usdc } from './historyOutput.js'

const ABOUT = `Writes the wallet's statement of a month (2026-11) or a year (2026), in UTC, into a new file that only its owner can read: "pdf" for people, "csv" with each change of cash and shares, or "tax" with a line for each lot that was sold, by the columns of Form 8949. It is made from the chain alone: with --escrow it needs no server. Shares are sold first in, first out.`

const NOT_NEW = 'the new file cannot be created, or already exists'

const FORMATS: readonly StatementFormat[] = ['pdf', 'csv', 'tax']

interface Options extends WalletOptions {
  readonly format: StatementFormat
  readonly out: string
}

const periodSchema = z.string().transform((text, context): Period => {
  const period = periodOf(text)
  if (period !== null) return period
  context.addIssue({ code: 'custom', message: 'expected a month, such as 2026-11, or a year, such as 2026' })
  return z.NEVER
})

export const addStatement: AddCommand = (root, context) => {
  const { env, terminal } = context
  const summary = 'a statement of a month or a year with realised gains, as PDF or CSV'
  addWalletCommand(root, 'statement', summary, ABOUT)
    .argument('<period>', 'a month, such as 2026-11, or a year', parsedBy(periodSchema))
    .addOption(new Option('--format <format>', 'the kind of file').choices(FORMATS).default('pdf'))
    .requiredOption('--out <file>', 'the new file')
    .action(async (period: Period, options: Options) => {
      const { format, out } = options
      // The history may take minutes, so it comes after this.
      if (
        await access(out).then(
          () => true,
          () => false,
        )
      )
        throw usage(NOT_NEW)
      const { entries, finalUntil, account } = await withWallet(options, env, async (client) => ({
        ...(await readHistory(client, context)),
        account: await client.getAccount(),
      }))
      const statement = statementOf(entries, period, finalUntil)
      const file = statementFile(statement, format, account)
      // Never overwrites a file, and shows the portfolio to nobody else.
      await writeFile(out, file, { flag: 'wx', mode: 0o600 }).catch(() => {
        throw usage(NOT_NEW)
      })
      if (!statement.isFinal) terminal.progress(`preliminary: it is final up to ${timeOf(finalUntil)}`)
      terminal.result(reportOf(statement, out))
    })
}

function reportOf({ period, lines, gain, dividends, isFinal, isComplete }: Statement, out: string) {
  const amounts = { gain: gain?.toString() ?? null, dividends: dividends.toString() }
  return {
    json: { period: period.name, out, lines: lines.length, ...amounts, isFinal, isComplete },
    blocks: [
      fields([
        ['written', out],
        ['lines', lines.length.toString()],
        [
          'realised gain',
          gain === null
            ? 'unknown: some cash is for shares, or for a part of them, whose cost is not known'
            : usdc(gain),
        ],
        ['dividends', usdc(dividends)],
        ['complete', isComplete ? 'yes' : 'no: some versions of the portfolio could not be read'],
      ]),
    ],
  }
}
