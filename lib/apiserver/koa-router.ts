/**
 * Koa's router as CommonJS. As an ES module it imports `node:http` as one, which loads fetch and WebSocket of Node's own:
 * memory that nothing here needs.
 */
export { Router } from '../../node_modules/@koa/router/dist/index.js';
