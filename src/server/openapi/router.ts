import { Router } from 'express'
import { z } from 'zod'
import { methodNotAllowed } from '../http/errors.js'
import { preparedJson } from '../http/preparedJson.js'
import { Problem } from '../http/problems.js'
import { describeApi } from './document.js'
import { PAGE, PAGE_POLICY } from './page.js'
import { pageFileSchema, sendPageFile } from './pageFiles.js'
import type { JsonObject } from './schemas.js'

/** The API's description: as JSON at /openapi.json, as a page at /docs. */
export function createDocsRouter(version: string): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const sendDocument = preparedJson(z.record(z.string(), z.unknown()))
  let document: JsonObject | undefined

  router
    .route('/openapi.json')
    .get((_req, res) => {
      document ??= describeApi(version)
      sendDocument(res, document)
    })
    .all(methodNotAllowed('GET'))

  router
    .route('/docs')
    .get((_req, res) => {
      res.setHeader('Content-Security-Policy', PAGE_POLICY)
      res.type('html').send(PAGE)
    })
    .all(methodNotAllowed('GET'))

  router
    .route('/docs/:file')
    .get((req, res) => {
      const file = pageFileSchema.safeParse(req.params.file)
      if (!file.success) throw new Problem('not-found')
      sendPageFile(res, file.data)
    })
    .all(methodNotAllowed('GET'))

  return router
}
