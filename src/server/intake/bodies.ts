import { postOrderSchema } from '../../protocol/api.js'
import { postPolicySchema } from '../../protocol/sealedRulebook.js'
import { receivedPointSchema } from './curvePoint.js'

/** The body of `POST /orders` as the server checks it. */
export const receivedOrderSchema = postOrderSchema.extend({ epk: receivedPointSchema })

/** The body of `POST /policy` as the server checks it. */
export const receivedPolicySchema = postPolicySchema.extend({ epk: receivedPointSchema })
