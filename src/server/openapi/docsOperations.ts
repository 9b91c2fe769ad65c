import type { Operation } from './operation.js'

/** The routes of `createDocsRouter`. */
export const DOCS_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: '/openapi.json',
    operationId: 'getOpenApi',
    tag: 'Documentation',
    summary: 'This document',
    answers: [{ status: 200, description: 'OpenAPI 3.1.', content: 'OpenApi' }],
    problems: [],
  },
  {
    method: 'get',
    path: '/docs',
    operationId: 'getDocsPage',
    tag: 'Documentation',
    summary: 'This document as a page',
    answers: [{ status: 200, description: 'The page.', content: { mediaTypes: ['text/html'] } }],
    problems: [],
  },
  {
    method: 'get',
    path: '/docs/:file',
    operationId: 'getDocsPageFile',
    tag: 'Documentation',
    summary: 'A file that the page loads',
    parameters: { file: { schema: 'PageFile', description: 'Its name.' } },
    answers: [
      { status: 200, description: 'The file.', content: { mediaTypes: ['text/css', 'text/javascript'] } },
    ],
    problems: ['not-found'],
  },
]
