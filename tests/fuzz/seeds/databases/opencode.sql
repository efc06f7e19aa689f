CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, title text, directory text, revert text, time_created integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, data text);
INSERT INTO session VALUES ('ses_1', 'p', NULL, 'T', '/w', NULL, 1), ('ses_2', 'p', 'ses_1', 'look', '/w', NULL, 2);
INSERT INTO message VALUES
('msg_2', 'ses_1', 1700000002000, 0, '{"role":"assistant","modelID":"m","time":{"created":1700000002000}}'),
('msg_1', 'ses_1', 1700000001000, 0, '{"role":"user"}'),
('msg_3', 'ses_2', 1700000003000, 0, '{"role":"user"}'),
('msg_4', 'ses_2', 1700000004000, 0, 'no JSON');
INSERT INTO part VALUES
('prt_1', 'msg_1', 'ses_1', 0, '{"type":"text","text":"hi"}'),
('prt_2', 'msg_2', 'ses_1', 0, '{"type":"tool","callID":"c","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"x","metadata":{"exit":0}}}'),
('prt_3', 'msg_2', 'ses_1', 0, '{"type":"text","text":"there"}'),
('prt_4', 'msg_3', 'ses_2', 0, '{"type":"text","text":"search"}');
