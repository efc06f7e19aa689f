CREATE TABLE schema_version (version INTEGER);
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, session_type TEXT, working_dir TEXT, model_config_json TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);
INSERT INTO sessions VALUES ('1', 'n', '', 'user', '/w', '{"model_name":"m"}'), ('2', 'sub', '', 'sub_agent', '/w', NULL);
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES
('1', 'user', '[{"type":"text","text":"go"}]', 1700000000, '{"userVisible":true,"agentVisible":false}'),
('2', 'user', '[{"type":"text","text":"look"}]', 1700000001, NULL),
('1', 'assistant', '[{"type":"toolRequest","id":"a","toolCall":{"status":"success","value":{"name":"shell","arguments":{"command":"ls"}}}}]', 1700000001, NULL),
('1', 'user', '[{"type":"text","text":"So far: x."}]', 1700000002, '{"userVisible":false,"agentVisible":true}'),
('1', 'user', '{broken', 1700000002, NULL);
