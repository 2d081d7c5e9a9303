/** What the contract has and the schema does not have yet, by the feature that will bring it. */
export const absent: Readonly<Record<string, readonly string[]>> = {
  tools: [
    'Query.tools',
    'ChatSession.tools',
    'Tool',
    'ToolOrigin',
    'ToolSideEffect',
    'ClientToolInput',
    'CreateChatSessionInput.tools',
    'CreateChatSessionInput.clientTools',
  ],
  'input requests': [
    'ToolApproval',
    'ClientToolCall',
    'Mutation.decideApproval',
    'Mutation.submitToolResult',
    'DecideApprovalInput',
    'SubmitToolResultInput',
  ],
  'budgets of owners': ['Viewer.budget'],
};
