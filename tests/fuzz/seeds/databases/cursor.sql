CREATE TABLE ItemTable (key, value);
CREATE TABLE cursorDiskKV (key TEXT, value BLOB);
INSERT INTO cursorDiskKV VALUES
('composerData:c', '{"composerId":"c","fullConversationHeadersOnly":[{"bubbleId":"1"},{"bubbleId":"2"},{"bubbleId":"3"},{"bubbleId":"4"},{"bubbleId":"5"},{"bubbleId":"gone"}],"latestConversationSummary":{"summary":{"summary":"So far: x.","truncationLastBubbleIdInclusive":"1","clientShouldStartSendingFromInclusiveBubbleId":"2"},"lastBubbleId":"4"}}'),
('bubbleId:c:1', '{"bubbleId":"1","type":1,"text":"fix it","createdAt":"2026-01-01T00:00:00Z","contextWindowStatusAtCreation":{"tokenLimit":1000}}'),
('bubbleId:c:2', '{"bubbleId":"2","type":2,"text":"","thinking":{"text":"hm"},"modelInfo":{"modelName":"m"}}'),
('bubbleId:c:3', '{"bubbleId":"3","type":2,"text":"ok","tokenCount":{"inputTokens":9,"outputTokens":1},"toolFormerData":{"toolCallId":"a","name":"read_file_v2","status":"completed","rawArgs":"{\"path\":\"a.rs\"}","result":"{\"contents\":\"body\"}"}}'),
('bubbleId:c:4', '{"bubbleId":"4","type":2,"toolFormerData":{"toolCallId":"b","name":"run_terminal_cmd","status":"cancelled","rawArgs":"{\"comm","params":"{\"command\":\"rm x\"}","userDecision":"rejected"}}'),
('bubbleId:c:5', '{"bubbleId":"5","type":2,"text":"done"}'),
('composerData:d', '{"composerId":"d","conversation":[{"type":1,"text":"old"},{"type":9}]}'),
('composerData:e', '{broken');
