import * as z from 'zod'
import { actionReportSchema } from '../../protocol/actionReport.js'
import { enclaveReportSchema } from '../../protocol/finding.js'
import type { Hex } from '../../protocol/hex.js'
import { jsonOf } from '../../protocol/json.js'
import { orderReportSchema } from '../../protocol/resolution.js'
import { type ReportRequest, reportRequestSchema, sealReport } from '../../protocol/sealedReport.js'
import type { Logger } from '../../service/logger.js'
import type { TradingConfig } from '../commonConfig.js'
import { reportActions } from '../doctor/actions.js'
import { checkEnclave, type KeysInUse } from '../doctor/checkup.js'
import { reportOrder } from '../doctor/order.js'
import type { DoorCode, Routes } from '../resident/door.js'
import { signedRoute } from './signedRoute.js'

/**
 * The reports of `operate doctor`, `invariants`, `actions` and `resolve`. They name symbols, sums and accounts, so each is sealed to the owner.
 * The secret of jobs alone shows a report's length, and nothing else.
 * @param secret that of jobs
 * @param owner the public key of the first holder
 * @param subject undefined until the enclave has its keys
 */
export function reportRoute(
  secret: string,
  owner: Hex,
  subject: () => { readonly config: TradingConfig; readonly inUse: KeysInUse } | undefined,
  logger: Logger,
): Routes {
  async function answer(request: ReportRequest): Promise<object | DoorCode> {
    const found = subject()
    if (found === undefined) return 'keys-awaited'
    const { config, inUse } = found
    const report = await reportOf(request, config, inUse)
    if (report === undefined) return 'order-not-overdue'
    const domain = { chainId: config.CHAIN_ID, escrow: config.ORDER_ESCROW_ADDRESS }
    return { envelope: await sealReport(report, owner, domain) }
  }

  return {
    '/report': {
      POST: signedRoute({
        ...{ kind: 'report', secret, logger, answer },
        signed: ({ text }) => text,
        read: (text) => reportRequestSchema.safeParse(jsonOf(text)).data,
      }),
    },
  }
}

/** Undefined for an order that a run may still end. */
async function reportOf(request: ReportRequest, config: TradingConfig, inUse: KeysInUse): Promise<unknown> {
  if ('actions' in request) return z.encode(actionReportSchema, await reportActions(config))
  if ('order' in request) {
    const { report, isOverdue } = await reportOrder(config, inUse.keys, request.order)
    return isOverdue ? z.encode(orderReportSchema, report) : undefined
  }
  return z.encode(enclaveReportSchema, await checkEnclave(config, inUse, request))
}
